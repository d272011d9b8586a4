# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Quota errors of a recreated object: the quota still counts the old one."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import FORBIDDEN, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import parse_quantity

# The message of the admission plugin ResourceQuota.
_EXCEEDED = re.compile(
    r"exceeded quota: .*?, requested: (?P<requested>.*?), used: (?P<used>.*?), limited: (?P<limit>.*)"
)


def leaves_room(error: ApiError, kind: str) -> bool:
    """True for a rejection by an object count quota that is exceeded only while the old object exists."""
    match = _EXCEEDED.search(error.message) if error.status == FORBIDDEN else None
    if match is None:
        return False
    requested, used, limited = (_amounts(match[name]) for name in ("requested", "used", "limit"))
    counted = {f"count/{KINDS[kind].resource}", KINDS[kind].plural}
    return requested.keys() <= counted and all(_fits(used.get(name), limited.get(name)) for name in requested)


def _amounts(text: str) -> Mapping[str, str]:
    """Return the amounts of a list such as ``count/services=1,services=1``."""
    return {name: amount for name, _equals, amount in (part.partition("=") for part in text.split(","))}


def _fits(used: str | None, limited: str | None) -> bool:
    there, most = parse_quantity(used), parse_quantity(limited)
    return there is not None and most is not None and there <= most
