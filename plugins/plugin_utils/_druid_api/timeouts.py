# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long requests to Druid may take. Options have it, so it does without the import of the HTTP client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.time_limit import OPERATOR_SECONDS, TimeLimit

# Of one response, in the operator.
_READ_SECONDS = 10.0


@dataclass(frozen=True)
class Timeouts:
    """Timeouts of requests to Druid, in seconds: of one response, and of all retries of a request.

    `of_run`: the time limit of the whole run in the operator, which is also the timeout of its writes.
    """

    read_timeout: float = 120
    retry_timeout: float = 30
    of_run: TimeLimit | None = field(default=None, compare=False)


def to_timeouts(arguments: Mapping[str, Any]) -> Timeouts:
    """Return the timeouts of a task. In the operator they are fixed, and the next reconcile is the retry."""
    if arguments["operator"]:
        return Timeouts(_READ_SECONDS, retry_timeout=0, of_run=TimeLimit(OPERATOR_SECONDS))
    return Timeouts(arguments["read_timeout"], arguments["retry_timeout"])
