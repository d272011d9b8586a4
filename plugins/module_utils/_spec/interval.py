# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Intervals, which Druid takes in the notations of ISO 8601 and gives back in one."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.instant import canonical_instant

_SHORT = {4: "-01-01", 7: "-01"}
_DATE = re.compile(r"\d{4}(?:-\d{2})?")


def canonical_interval(text: Any) -> Any:
    """
    Return ``2020/2021-06`` as ``2020-01-01T00:00:00.000Z/2021-06-01T00:00:00.000Z``.

    One with a period in it, and what is none at all, is returned as it is.
    """
    if not isinstance(text, str):
        return text
    return "/".join(canonical_instant(_with_day(part)) for part in text.split("/"))


def _with_day(part: str) -> str:
    return part + _SHORT[len(part)] if _DATE.fullmatch(part) else part
