# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A reconcile that would read what the last one has read changes nothing either: only the reads are repeated.

This is true for a reconcile with nothing to do and nothing to wait for: its decision depends on what it has read, and
on the time only for what it would wait for.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import readings
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import log_file, pending_run
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.record import Reads


def reads(returned: Mapping[str, Any], line: str, meter: Meter) -> Reads | None:
    """Return what the reconcile has read, None if it depends on more than that: it did something, or waits for it."""
    recording = meter.recording
    is_done = not returned["changed"] and not returned.get("msg") and returned.get("requeue_after") is None
    if not is_done or recording is None or not recording.is_complete or set(+meter.requests) != {"cache_requests"}:
        return None
    return Reads(time.monotonic(), recording.server, recording.readings, dict(recording.headers), json.loads(line))


def repeat(kind: Kind[Any, Any], arguments: Mapping[str, Any], last: Reads) -> bool:
    """Read again; True if everything is as it was. Then the metrics and the log have this reconcile, too."""
    began, meter = time.monotonic(), Meter()
    cache = meter.of_cache(readings.connection(last.server, last.headers))
    with meter.phases("observe"):
        is_same = all(readings.read(cache, url) == known for url, known in last.readings.items())
    if is_same:
        pending_run.report_start()
        _publish(kind, arguments, last.entry, meter, time.monotonic() - began)
    return is_same


def _publish(
    kind: Kind[Any, Any], arguments: Mapping[str, Any], entry: Mapping[str, Any], meter: Meter, seconds: float
) -> None:
    error = None
    if arguments["metrics_url"]:
        error = kind.telemetry.publish_unchanged(arguments, meter, seconds)
    if arguments["log"]:
        measured = {"time": timestamp(datetime.now(UTC)), "seconds": round(seconds, 3)}
        failure = {"level": "warning", "metrics": error} if error else {}
        log_file.append(arguments["log"], json.dumps({**entry, **measured, **failure}))
