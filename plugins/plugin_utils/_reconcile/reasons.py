# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reasons of conditions that more than one kind has. Constants: people and alerts match on them."""

from __future__ import annotations

UP_TO_DATE = "UpToDate"
AS_EXPECTED = "AsExpected"
CHANGES_WAIT = "ChangesWait"
PAUSED = "Paused"
IGNORED = "Ignored"
DELETING = "Deleting"

INVALID_SPEC = "InvalidSpec"
REFERENCE_REFUSED = "ReferenceRefused"
NAME_COLLISION = "NameCollision"
WRITE_FAILED = "WriteFailed"
CLUSTER_UNREADABLE = "ClusterUnreadable"

ROUTER_NOT_FOUND = "RouterNotFound"
SECRET_NOT_FOUND = "SecretNotFound"
DRUID_UNREACHABLE = "DruidUnreachable"
UNAUTHORIZED = "Unauthorized"
REFUSED_BY_DRUID = "RefusedByDruid"
