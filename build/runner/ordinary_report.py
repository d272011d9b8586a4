# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report an ordinary run where there should be a resident process: a line in the log, and a counter."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

METRIC = "druidops_ordinary_runs_total"
_DESCRIPTION = "Runs that the resident process did not carry out."
# The defaults are those of the playbooks.
_URL = "http://localhost:5050/metrics"
_TIMEOUT_SECONDS = 2


def report(reason: str, environment: Mapping[str, str]) -> None:
    """Write the line and push the counter; an error only means that it is not reported there."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = json.dumps({"time": now, "level": "warning", "message": f"The run is an ordinary one: {reason}."})
    with suppress(OSError), open(environment.get("DRUIDOPS_LOG") or os.devnull, "a", encoding="utf-8") as log:
        log.write(f"{line}\n")
    if url := environment.get("DRUIDOPS_METRICS_URL", _URL):
        with suppress(OSError, HTTPException, ValueError):
            _push(url)


def _push(url: str) -> None:
    address = urlsplit(url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=_TIMEOUT_SECONDS)
    try:
        body = {"name": METRIC, "description": _DESCRIPTION, "counter": {"increment": True}}
        connection.request("POST", address.path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        connection.getresponse().read()
    finally:
        connection.close()
