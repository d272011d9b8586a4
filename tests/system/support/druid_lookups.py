# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lookups of a Druid that tests share."""

from __future__ import annotations

from testbed.druid.druid import Druid

_CONFIG = "/druid/coordinator/v1/lookups/config"


def remove_lookups(druid: Druid, name: str) -> None:
    """Remove the lookups that have this in their name."""
    # a Druid that never had any has no list; no change otherwise
    druid.request("POST", _CONFIG, {})
    for tier, lookups in druid.request("GET", f"{_CONFIG}/all").items():
        for lookup in lookups:
            if name in lookup:
                druid.request("DELETE", f"{_CONFIG}/{tier}/{lookup}")
