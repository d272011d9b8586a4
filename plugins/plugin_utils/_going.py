# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether an object is going: it has been deleted, and is not gone yet. Pure."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import Manifest


def is_going(live: Manifest) -> bool:
    """True when the API server has set ``metadata.deletionTimestamp``, which nobody takes back."""
    return bool(live["metadata"].get("deletionTimestamp"))
