# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reasons of conditions. Constants: people and alerts match on them (docs/ingestion.md)."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._reasons import (
    AS_EXPECTED,
    CHANGES_WAIT,
    CLUSTER_UNREADABLE,
    DELETING,
    IGNORED,
    INVALID_SPEC,
    NAME_COLLISION,
    PAUSED,
    REFERENCE_REFUSED,
    UP_TO_DATE,
    WRITE_FAILED,
)

RUNNING = "Running"
SUCCEEDED = "Succeeded"
SUSPENDED = "Suspended"
NOT_SUSPENDED = "NotSuspended"
STARTING = "Starting"

CLUSTER_NOT_FOUND = "ClusterNotFound"
ROUTER_NOT_FOUND = "RouterNotFound"
SECRET_NOT_FOUND = "SecretNotFound"
DUPLICATE = "Duplicate"
DRUID_UNREACHABLE = "DruidUnreachable"
UNAUTHORIZED = "Unauthorized"
REFUSED = "RefusedByDruid"
DRIFTED = "Drifted"
UNHEALTHY = "Unhealthy"
TASK_FAILED = "TaskFailed"
TASK_UNKNOWN = "TaskUnknown"

# What may be over in the next pass without anybody's doing.
PASSING = frozenset({CLUSTER_NOT_FOUND, ROUTER_NOT_FOUND, DRUID_UNREACHABLE, UNHEALTHY, WRITE_FAILED})

__all__ = [
    "AS_EXPECTED",
    "CHANGES_WAIT",
    "CLUSTER_NOT_FOUND",
    "CLUSTER_UNREADABLE",
    "DELETING",
    "DRIFTED",
    "DRUID_UNREACHABLE",
    "DUPLICATE",
    "IGNORED",
    "INVALID_SPEC",
    "NAME_COLLISION",
    "NOT_SUSPENDED",
    "PASSING",
    "PAUSED",
    "REFERENCE_REFUSED",
    "REFUSED",
    "ROUTER_NOT_FOUND",
    "RUNNING",
    "SECRET_NOT_FOUND",
    "STARTING",
    "SUCCEEDED",
    "SUSPENDED",
    "TASK_FAILED",
    "TASK_UNKNOWN",
    "UNAUTHORIZED",
    "UNHEALTHY",
    "UP_TO_DATE",
    "WRITE_FAILED",
]
