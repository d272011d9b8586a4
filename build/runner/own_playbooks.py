# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks of this collection that the operator runs."""

from __future__ import annotations

import os

import ansible_collections.druidops.druid as collection


def is_own(playbook: str) -> bool:
    """True for a file in the directory `playbooks` of the collection, also by a link to it."""
    directory = os.path.dirname(os.path.realpath(playbook))
    return any(os.path.realpath(os.path.join(each, "playbooks")) == directory for each in collection.__path__)
