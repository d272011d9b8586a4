# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reasons of conditions. Constants: people and alerts match on them (docs/troubleshooting.md)."""

from __future__ import annotations

RUNNING = "Running"
SUCCEEDED = "Succeeded"
SUSPENDED = "Suspended"
NOT_SUSPENDED = "NotSuspended"
STARTING = "Starting"
UP_TO_DATE = "UpToDate"
AS_EXPECTED = "AsExpected"
CHANGES_WAIT = "ChangesWait"
PAUSED = "Paused"
IGNORED = "Ignored"
DELETING = "Deleting"

INVALID_SPEC = "InvalidSpec"
CLUSTER_NOT_FOUND = "ClusterNotFound"
ROUTER_NOT_FOUND = "RouterNotFound"
SECRET_NOT_FOUND = "SecretNotFound"
REFERENCE_REFUSED = "ReferenceRefused"
DUPLICATE = "Duplicate"
NAME_COLLISION = "NameCollision"
DRUID_UNREACHABLE = "DruidUnreachable"
UNAUTHORIZED = "Unauthorized"
REFUSED = "RefusedByDruid"
DRIFTED = "Drifted"
UNHEALTHY = "Unhealthy"
TASK_FAILED = "TaskFailed"
TASK_UNKNOWN = "TaskUnknown"
WRITE_FAILED = "WriteFailed"
CLUSTER_UNREADABLE = "ClusterUnreadable"

# What may be over in the next pass without anybody's doing.
PASSING = frozenset({CLUSTER_NOT_FOUND, ROUTER_NOT_FOUND, DRUID_UNREACHABLE, UNHEALTHY, WRITE_FAILED})
