# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What belongs together travels together: a group is written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Finding, Step


def held_back(steps: Iterable[Step], findings: Iterable[Finding]) -> tuple[Step, ...]:
    """Return the steps that may be carried out: none of a group with a finding, none at all if all groups share it."""
    troubled = {finding.group for finding in findings}
    if None in troubled:
        return ()
    return tuple(step for step in steps if step.group not in troubled or step.group is None)
