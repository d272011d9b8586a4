# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why the pods of a release are not available, as Kubernetes reports it in events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._values.excerpt import excerpt

# Kubernetes repeats a warning within this time as long as its cause is there.
_RECENT = timedelta(minutes=10)
_KINDS = ("Pod", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")
_MAX_MESSAGE = 300


def latest_problem(api: KubernetesApi, collector: Collector) -> str:
    """Return the latest recent warning about a pod of the release; empty if none can be read."""
    try:
        events = api.list_objects("Event", collector.tenant, field_selector="type=Warning")
    except KubernetesError:
        return ""
    return problem_of(events, collector.release, timestamp(datetime.now(UTC) - _RECENT))


def problem_of(events: list[Manifest], release: str, since: str) -> str:
    """Return the latest of these events about a pod of the release, or about its controller."""
    found = [each for each in events if _is_about(each, release) and _time(each) >= since]
    latest = max(found, key=_time, default=None)
    if latest is None:
        return ""
    about = latest["involvedObject"]
    text = excerpt(" ".join(str(latest.get("message") or "").split()), _MAX_MESSAGE)
    return f"{about['kind']} {about['name']}: {latest.get('reason')}: {text}"


def _is_about(event: Manifest, release: str) -> bool:
    about = event.get("involvedObject") or {}
    name = str(about.get("name") or "")
    return about.get("kind") in _KINDS and (name == release or name.startswith(f"{release}-"))


def _time(event: Manifest) -> str:
    times = (event.get(name) for name in ("lastTimestamp", "eventTime", "firstTimestamp"))
    return str(next(filter(None, times), None) or event["metadata"].get("creationTimestamp") or "")
