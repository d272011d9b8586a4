# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A reconcile that would read what the last one has read changes nothing either: only the reads are repeated.

The operator's resident process (build/runner/unchanged.py) runs a whole playbook otherwise. Only a reconcile with
nothing to do and nothing to wait for is recorded: its decision depends on what it has read, and on the time only for
what it would wait for.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import readings
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import log_file, pending_run
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind

# The environment variable with the file of the record. Without it, nothing is recorded.
FILE = "DRUIDOPS_READINGS"
# The arguments of the action that its metrics depend on.
_ARGUMENTS = ("name", "namespace", "metrics_url", "metrics_namespaces", "log")


class Record(NamedTuple):
    """A reconcile that changed nothing: when it ended by the monotonic clock, what it has read, and its log line.

    ``headers`` are those of the reads from ``server``, the cache, which takes the resource's name from them; they
    contain no secret.
    """

    ended: float
    server: str
    readings: Mapping[str, str]
    headers: Mapping[str, str]
    arguments: Mapping[str, Any]
    entry: Mapping[str, Any]


def is_requested() -> bool:
    """Return whether the reconcile is to be recorded."""
    return FILE in os.environ


def is_repeatable(returned: Mapping[str, Any], meter: Meter) -> bool:
    """Return whether the reconcile depends on nothing but its reads: it had nothing to do, and waits for nothing."""
    is_done = not returned["changed"] and not returned.get("msg") and returned.get("requeue_after") is None
    is_recorded = meter.recording is not None and meter.recording.is_complete
    return is_done and is_recorded and set(+meter.requests) == {"cache_requests"}


def record(arguments: Mapping[str, Any], line: str, meter: Meter) -> None:
    """Write the record to its file, whole or not at all; without it, the next reconcile is a full one."""
    if meter.recording is None:
        return
    kept = {name: arguments[name] for name in _ARGUMENTS}
    recording = meter.recording
    written = Record(
        time.monotonic(), recording.server, recording.readings, dict(recording.headers), kept, json.loads(line)
    )
    path = os.environ[FILE]
    with suppress(OSError):
        with open(f"{path}.new", "w", encoding="utf-8", opener=partial(os.open, mode=0o600)) as file:
            json.dump(written, file)
        os.rename(f"{path}.new", path)


def from_json(text: str) -> Record | None:
    """Return the record, None if the text is none."""
    try:
        return Record(*json.loads(text))
    except (ValueError, TypeError):
        return None


def repeat(kind: Kind[Any, Any], last: Record) -> bool:
    """Read again; True if everything is as it was. Then the metrics and the log have this reconcile, too."""
    began, meter = time.monotonic(), Meter()
    cache = meter.of_cache(readings.connection(last.server, last.headers))
    with meter.phases("observe"):
        is_same = all(readings.read(cache, url) == known for url, known in last.readings.items())
    if is_same:
        pending_run.report_start()
        _publish(kind, last, meter, time.monotonic() - began)
    return is_same


def _publish(kind: Kind[Any, Any], last: Record, meter: Meter, seconds: float) -> None:
    error = None
    if last.arguments["metrics_url"]:
        error = kind.telemetry.publish_unchanged(last.arguments, meter, seconds)
    if last.arguments["log"]:
        measured = {"time": timestamp(datetime.now(UTC)), "seconds": round(seconds, 3)}
        failure = {"level": "warning", "metrics": error} if error else {}
        log_file.append(last.arguments["log"], json.dumps({**last.entry, **measured, **failure}))
