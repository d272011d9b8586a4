# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tasks of a datasource."""

from __future__ import annotations

from testbed.druid.druid import Druid


def running_tasks(druid: Druid, datasource: str) -> list[str]:
    """Return the ids of the tasks that run, sorted."""
    return _ids(druid, datasource, "running")


def active_tasks(druid: Druid, datasource: str) -> list[str]:
    """Return the ids of the tasks that run or wait for a slot, sorted."""
    return _ids(druid, datasource, "waiting", "pending", "running")


def _ids(druid: Druid, datasource: str, *states: str) -> list[str]:
    lists = (druid.request("GET", f"/druid/indexer/v1/tasks?state={each}&datasource={datasource}") for each in states)
    # the states are in the order in which a task has them: one that changes its state between two requests is in a list
    return sorted({task["id"] for each in lists for task in each})
