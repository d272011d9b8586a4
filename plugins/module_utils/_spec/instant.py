# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Moments, which Druid takes in the notations of ISO 8601 and gives back in one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def canonical_instant(text: Any) -> Any:
    """Return ``2026-01-01`` as ``2026-01-01T00:00:00.000Z``; what is no moment as it is, for Druid to refuse."""
    if not isinstance(text, str):
        return text
    try:
        moment = datetime.fromisoformat(text)
        in_utc = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        # the offset may lead out of the years that Python knows
        return text
    return f"{in_utc:%Y-%m-%dT%H:%M:%S}.{in_utc.microsecond // 1000:03}Z"
