# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Backoff of the next reconcile: short after a change or a failure, longer while the state lasts."""

from __future__ import annotations

from datetime import UTC, datetime

MIN_SECONDS = 5
MAX_SECONDS = 300
# The backoff when the conditions could not be read, so that the age is unknown.
UNKNOWN_AGE_SECONDS = 30
# The backoff is this part of the age.
SHARE_OF_AGE = 10


def backoff_since(text: str, now: datetime) -> int:
    """Return the seconds to wait, given the transition time of a condition."""
    age = max(0, int((now - _moment(text, now)).total_seconds()))
    return min(max(MIN_SECONDS, age // SHARE_OF_AGE), MAX_SECONDS)


def _moment(text: str, now: datetime) -> datetime:
    """Return the transition time of a condition; now, if it is not a valid timestamp."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return now
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
