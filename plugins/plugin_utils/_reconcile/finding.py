# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What stands in the way of a resource, or what its user should know."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Something that stands in the way: a reason (constant), words for a person, and what is held back by it.

    `group` None means that the whole resource is held back; `is_problem` False that it is as the user wants it.
    """

    reason: str
    message: str
    group: str | None = None
    is_problem: bool = True
