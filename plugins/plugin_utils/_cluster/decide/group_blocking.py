# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All-or-nothing writes per group: a finding blocks the group, and any finding defers the removal of groups."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def drop_blocked(steps: Iterable[Step], findings: Iterable[Finding]) -> tuple[Step, ...]:
    """Return the steps that are not blocked.

    A finding blocks its group, or all groups if it has none. Any finding also blocks the removal of groups: a removed
    group may be a blocked one under its old name.
    """
    blocked = {finding.group for finding in findings}
    if None in blocked:
        return ()
    return tuple(step for step in steps if not _is_blocked(step, blocked))


def _is_blocked(step: Step, blocked: Collection[str | None]) -> bool:
    return bool(blocked) if step.removes_group or step.prepares_removal else step.group in blocked


def unchanged_message(group: str | None) -> str:
    """Return the consequence of a rejection for its group; None are the objects that all groups share."""
    return f"Nothing of group {group} is changed." if group else "Nothing is changed."
