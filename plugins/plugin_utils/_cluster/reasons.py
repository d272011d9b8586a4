# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reasons of conditions. Constants: people and alerts match on them (docs/troubleshooting.md)."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons as shared

READY = "AllNodesReady"
NOT_READY = "NodesNotReady"
STOPPED = "Stopped"
ROLLING_OUT = "RollingOut"
NOT_PAUSED = "NotPaused"
UP_TO_DATE = shared.UP_TO_DATE
AS_EXPECTED = shared.AS_EXPECTED
PAUSED = shared.PAUSED
IGNORED = shared.IGNORED
CHANGES_WAIT = shared.CHANGES_WAIT
DELETING = shared.DELETING
DRUID_AWAITED = "DruidAwaited"
PODS_FAILING = "PodsFailing"

INVALID_SPEC = shared.INVALID_SPEC
REFERENCE_NOT_FOUND = "ReferenceNotFound"
REFERENCE_REFUSED = shared.REFERENCE_REFUSED
NAME_COLLISION = shared.NAME_COLLISION
REFUSED = "RefusedByServer"
CONFLICT = "Conflict"
PODS_NOT_ADOPTABLE = "PodsNotAdoptable"
WRITE_FAILED = shared.WRITE_FAILED
REMOVAL_HELD_BACK = "RemovalHeldBack"
CLUSTER_UNREADABLE = shared.CLUSTER_UNREADABLE
ROUTER_NOT_FOUND = shared.ROUTER_NOT_FOUND
SECRET_NOT_FOUND = shared.SECRET_NOT_FOUND
DRUID_UNREACHABLE = shared.DRUID_UNREACHABLE
UNAUTHORIZED = shared.UNAUTHORIZED
REFUSED_BY_DRUID = shared.REFUSED_BY_DRUID

# A write that failed may succeed in the next pass, and then what was to follow it follows. Druid may answer then.
TRANSIENT = frozenset({WRITE_FAILED, REMOVAL_HELD_BACK, DRUID_UNREACHABLE})
