# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The one name of a time zone that has several (``DateTimes.inferTzFromString``, Joda-Time's ``DateTimeZone``). Pure.

Druid reads a name that it does not know as UTC. The one name is therefore the oldest, which every release knows.
"""

from __future__ import annotations

import re
from typing import Any

# The one name: other names.
_NAMES = {
    "UTC": ("UT", "Z"),
    "Etc/UTC": ("UCT", "Universal", "Zulu", "Etc/UCT", "Etc/Universal", "Etc/Zulu"),
    "Etc/GMT": ("GMT", "GMT0", "GMT+0", "GMT-0", "Greenwich", "Etc/GMT0", "Etc/GMT+0", "Etc/GMT-0", "Etc/Greenwich"),
    "Africa/Cairo": ("Egypt",),
    "America/Anchorage": ("US/Alaska",),
    "America/Argentina/Buenos_Aires": ("America/Buenos_Aires",),
    "America/Chicago": ("US/Central", "CST"),
    "America/Denver": ("US/Mountain", "Navajo"),
    "America/Detroit": ("US/Michigan",),
    "America/Edmonton": ("Canada/Mountain",),
    "America/Godthab": ("America/Nuuk",),
    "America/Halifax": ("Canada/Atlantic",),
    "America/Havana": ("Cuba",),
    "America/Indiana/Indianapolis": ("America/Indianapolis", "America/Fort_Wayne", "US/East-Indiana"),
    "America/Jamaica": ("Jamaica",),
    "America/Los_Angeles": ("US/Pacific", "PST"),
    "America/Mexico_City": ("Mexico/General",),
    "America/New_York": ("US/Eastern",),
    "America/Phoenix": ("US/Arizona",),
    "America/Regina": ("Canada/Saskatchewan",),
    "America/Santiago": ("Chile/Continental",),
    "America/Sao_Paulo": ("Brazil/East",),
    "America/St_Johns": ("Canada/Newfoundland",),
    "America/Toronto": ("Canada/Eastern", "America/Montreal"),
    "America/Vancouver": ("Canada/Pacific",),
    "America/Winnipeg": ("Canada/Central",),
    "Asia/Dhaka": ("Asia/Dacca",),
    "Asia/Hong_Kong": ("Hongkong",),
    "Asia/Jerusalem": ("Israel", "Asia/Tel_Aviv"),
    "Asia/Kathmandu": ("Asia/Katmandu",),
    "Asia/Kolkata": ("Asia/Calcutta", "IST"),
    "Asia/Ho_Chi_Minh": ("Asia/Saigon",),
    "Asia/Rangoon": ("Asia/Yangon",),
    "Asia/Seoul": ("ROK",),
    "Asia/Shanghai": ("PRC", "Asia/Chongqing", "Asia/Chungking", "Asia/Harbin"),
    "Asia/Singapore": ("Singapore",),
    "Asia/Taipei": ("ROC",),
    "Asia/Tehran": ("Iran",),
    "Asia/Tokyo": ("Japan", "JST"),
    "Atlantic/Reykjavik": ("Iceland",),
    "Australia/Adelaide": ("Australia/South",),
    "Australia/Brisbane": ("Australia/Queensland",),
    "Australia/Darwin": ("Australia/North",),
    "Australia/Hobart": ("Australia/Tasmania",),
    "Australia/Melbourne": ("Australia/Victoria",),
    "Australia/Perth": ("Australia/West",),
    "Australia/Sydney": ("Australia/ACT", "Australia/Canberra", "Australia/NSW"),
    "Europe/Dublin": ("Eire",),
    "Europe/Istanbul": ("Turkey", "Asia/Istanbul"),
    "Europe/Kiev": ("Europe/Kyiv",),
    "Europe/Lisbon": ("Portugal",),
    "Europe/London": ("GB", "GB-Eire", "Europe/Belfast"),
    "Europe/Moscow": ("W-SU",),
    "Europe/Warsaw": ("Poland",),
    "Pacific/Auckland": ("NZ",),
    "Pacific/Honolulu": ("US/Hawaii",),
}
_ALIASES = {other: name for name, others in _NAMES.items() for other in others}
_OFFSET = re.compile(r"(?:GMT)?([+-])(\d{2}|(?<=GMT.)\d)(?::?(\d{2}))?")


def canonical_time_zone(name: Any) -> Any:
    """Return ``US/Pacific`` as ``America/Los_Angeles``, ``+0530`` as ``+05:30``, and another name unchanged."""
    if not isinstance(name, str):
        return name
    if name.upper() in ("UTC", "Z"):
        return "UTC"
    offset = _OFFSET.fullmatch(name)
    return _ALIASES.get(name) or (_of_offset(*offset.groups(default="00")) if offset else name)


def _of_offset(sign: str, hours: str, minutes: str) -> str:
    return "UTC" if int(hours) == int(minutes) == 0 else f"{sign}{int(hours):02}:{minutes}"
