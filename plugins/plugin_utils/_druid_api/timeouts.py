# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Timeouts of requests to Druid."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Timeouts:
    """Timeouts of requests to Druid, in seconds: of one response, and of all retries of a request.

    `write_timeout` is that of a request that may change state: a supervisor takes up to 80 s to stop. None: the read
    timeout applies, so that a Druid that hangs does not block longer.
    """

    read_timeout: float = 120
    retry_timeout: float = 30
    write_timeout: float | None = None
