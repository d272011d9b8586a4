# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reasons of conditions. Constants: people and alerts match on them (docs/ingestion.md)."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons as shared

RUNNING = "Running"
SUCCEEDED = "Succeeded"
SUSPENDED = "Suspended"
NOT_SUSPENDED = "NotSuspended"
STARTING = "Starting"
UP_TO_DATE = shared.UP_TO_DATE
AS_EXPECTED = shared.AS_EXPECTED
CHANGES_WAIT = shared.CHANGES_WAIT
PAUSED = shared.PAUSED
IGNORED = shared.IGNORED
DELETING = shared.DELETING

INVALID_SPEC = shared.INVALID_SPEC
ROUTER_NOT_FOUND = shared.ROUTER_NOT_FOUND
SECRET_NOT_FOUND = shared.SECRET_NOT_FOUND
REFERENCE_REFUSED = shared.REFERENCE_REFUSED
DRUID_UNREACHABLE = shared.DRUID_UNREACHABLE
UNAUTHORIZED = shared.UNAUTHORIZED
REFUSED_BY_DRUID = shared.REFUSED_BY_DRUID
CLUSTER_NOT_FOUND = "ClusterNotFound"
DUPLICATE = "Duplicate"
NAME_COLLISION = shared.NAME_COLLISION
DRIFTED = "Drifted"
UNHEALTHY = "Unhealthy"
TASK_FAILED = "TaskFailed"
TASK_UNKNOWN = "TaskUnknown"
TASK_ID_TAKEN = "TaskIdTaken"
WRITE_FAILED = shared.WRITE_FAILED
CLUSTER_UNREADABLE = shared.CLUSTER_UNREADABLE

# What may be over in the next pass without anybody's doing.
TRANSIENT = frozenset({CLUSTER_NOT_FOUND, ROUTER_NOT_FOUND, DRUID_UNREACHABLE, UNHEALTHY, WRITE_FAILED})
