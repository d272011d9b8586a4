# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A problem that blocks a resource, or information for its user."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A reason (constant), a message, and the group that it blocks.

    `group` None: the whole resource is blocked. `is_problem` False: the user requested this state.
    """

    reason: str
    message: str
    group: str | None = None
    is_problem: bool = True
