# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reasons of conditions that come from speaking to Druid. Constants: people and alerts match on them."""

from __future__ import annotations

INVALID_SPEC = "InvalidSpec"
ROUTER_NOT_FOUND = "RouterNotFound"
SECRET_NOT_FOUND = "SecretNotFound"
REFERENCE_REFUSED = "ReferenceRefused"
DRUID_UNREACHABLE = "DruidUnreachable"
UNAUTHORIZED = "Unauthorized"
REFUSED_BY_DRUID = "RefusedByDruid"
