# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of a request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.report import Report

# Takes a line for the person who waits.
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Outcome:
    """What came of a request; `report` is None when there was nothing to report on."""

    plan: Plan = field(default_factory=Plan)
    changed: bool = False
    report: Report | None = None
    warnings: tuple[str, ...] = ()
    timed_out: bool = False
