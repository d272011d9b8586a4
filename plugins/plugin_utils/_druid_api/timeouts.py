# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long Druid is waited for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Timeouts:
    """How long Druid is waited for, in seconds: for the whole of an answer, and with what may be repeated.

    `write_timeout` is that of a request that may change something: it takes a supervisor up to 80 to stop. None: as for
    one that only reads, which a Druid that hangs would otherwise keep waiting as long.
    """

    read_timeout: float = 120
    retry_timeout: float = 30
    write_timeout: float | None = None
