# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reasons of conditions. Constants: people and alerts match on them (docs/troubleshooting.md)."""

from __future__ import annotations

READY = "AllNodesReady"
NOT_READY = "NodesNotReady"
STOPPED = "Stopped"
UP_TO_DATE = "UpToDate"
ROLLING_OUT = "RollingOut"
AS_EXPECTED = "AsExpected"
NOT_PAUSED = "NotPaused"
PAUSED = "Paused"
IGNORED = "Ignored"
CHANGES_WAIT = "ChangesWait"
DELETING = "Deleting"
PODS_FAILING = "PodsFailing"

INVALID_SPEC = "InvalidSpec"
REFERENCE_NOT_FOUND = "ReferenceNotFound"
REFERENCE_REFUSED = "ReferenceRefused"
NAME_COLLISION = "NameCollision"
REFUSED = "RefusedByServer"
CONFLICT = "Conflict"
PODS_NOT_ADOPTABLE = "PodsNotAdoptable"
WRITE_FAILED = "WriteFailed"
REMOVAL_HELD_BACK = "RemovalHeldBack"
CLUSTER_UNREADABLE = "ClusterUnreadable"
