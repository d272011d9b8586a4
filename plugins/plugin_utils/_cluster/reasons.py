# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reasons of conditions. Constants: people and alerts match on them (docs/troubleshooting.md)."""

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

READY = "AllNodesReady"
NOT_READY = "NodesNotReady"
STOPPED = "Stopped"
ROLLING_OUT = "RollingOut"
NOT_PAUSED = "NotPaused"
PODS_FAILING = "PodsFailing"

REFERENCE_NOT_FOUND = "ReferenceNotFound"
REFUSED = "RefusedByServer"
CONFLICT = "Conflict"
PODS_NOT_ADOPTABLE = "PodsNotAdoptable"
REMOVAL_HELD_BACK = "RemovalHeldBack"

# A write that failed may succeed in the next pass, and then what was to follow it follows.
PASSING = frozenset({WRITE_FAILED, REMOVAL_HELD_BACK})

__all__ = [
    "AS_EXPECTED",
    "CHANGES_WAIT",
    "CLUSTER_UNREADABLE",
    "CONFLICT",
    "DELETING",
    "IGNORED",
    "INVALID_SPEC",
    "NAME_COLLISION",
    "NOT_PAUSED",
    "NOT_READY",
    "PASSING",
    "PAUSED",
    "PODS_FAILING",
    "PODS_NOT_ADOPTABLE",
    "READY",
    "REFERENCE_NOT_FOUND",
    "REFERENCE_REFUSED",
    "REFUSED",
    "REMOVAL_HELD_BACK",
    "ROLLING_OUT",
    "STOPPED",
    "UP_TO_DATE",
    "WRITE_FAILED",
]
