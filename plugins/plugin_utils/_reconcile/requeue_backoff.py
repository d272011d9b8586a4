# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long to wait before looking again: short after something moved or failed, longer and longer while it lasts."""

from __future__ import annotations

from datetime import UTC, datetime

MIN_SECONDS = 5
MAX_SECONDS = 300
# For a trouble whose age nobody knows, since not even the conditions could be read.
UNKNOWN_AGE_SECONDS = 30
# The pause grows with the age of the trouble: a tenth of it.
SHARE_OF_AGE = 10


def backoff_since(text: str, now: datetime) -> int:
    """Return the seconds to wait for what has lasted since the time that a condition names."""
    age = max(0, int((now - _moment(text, now)).total_seconds()))
    return min(max(MIN_SECONDS, age // SHARE_OF_AGE), MAX_SECONDS)


def _moment(text: str, now: datetime) -> datetime:
    """Return the moment that a condition names; what somebody else has written there may be no time at all."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return now
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
