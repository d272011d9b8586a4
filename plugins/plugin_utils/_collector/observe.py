# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a reconcile of a Collector depends on: the chart, what the API server has, and why pods are not available."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ansible_collections.druidops.druid.plugins.module_utils._values.parse import InvalidYaml, load_yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import (
    Release,
    UnreadableRelease,
    release_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import (
    KIND,
    ChartAddress,
    Collector,
    is_safe_path,
    labels_of_release,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import Chart, NamespaceState, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    ApiResource,
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import excerpt

_OCI = "oci://"


def observe(reads: Reads, collector: Collector) -> Observed:
    """Read everything but the objects of the release."""
    release, unreadable = observe_release(reads, collector.tenant, collector.release)
    source = collector.source
    return Observed(
        release=release,
        unreadable=unreadable,
        owner=_owner(reads, collector, release),
        siblings=reads.list_objects(KIND) if collector.uid else (),
        druid=reads.get("Druid", collector.cluster) if collector.cluster else None,
        source=reads.get(source.kind, source.name) if source else None,
        environment={name: reads.get("Secret", name, collector.tenant) for name in collector.environment_secrets},
    )


def observe_release(reads: Reads, namespace: str, name: str) -> tuple[Release | None, str]:
    """Return the release in a namespace, and why it cannot be read."""
    try:
        return release_of(reads.list_objects("Secret", labels_of_release(name), namespace=namespace)), ""
    except UnreadableRelease as error:
        return None, str(error)


def _owner(reads: Reads, collector: Collector, release: Release | None) -> Manifest | None:
    owner = release.owner if release else None
    if owner is None or owner == (collector.namespace, collector.name):
        return None
    namespace, name = owner
    return reads.get(KIND, name, namespace)


def namespace_state(reads: Reads, namespace: str) -> NamespaceState:
    """Return whether objects can be created in a namespace, by a dry run: its own state may not be readable."""
    try:
        return "terminating" if reads.is_namespace_terminating(namespace) else "active"
    except ApiError as error:
        if error.is_missing_namespace:
            return "missing"
        raise


def is_deleted_namespace(reads: Reads, namespace: str) -> bool:
    """Return whether the namespace is terminating or does not exist; false if neither can be seen."""
    if namespace_state(reads, namespace) != "active":
        return True
    try:
        live = reads.get("Namespace", namespace)
    except ApiError:
        return False
    return live is None or is_terminating(live)


def kinds_of(api: KubernetesApi, manifests: Iterable[Manifest]) -> dict[tuple[str, str], ApiResource]:
    """Return the kinds of these objects by API version and kind, without those that the server does not have."""
    needed = {(each["apiVersion"], each["kind"]) for each in manifests}
    known = {
        (version, kind): api.kinds[kind]
        for version, kind in needed
        if kind in api.kinds and api.kinds[kind].api_version == version
    }
    served: Mapping[str, dict[str, ApiResource]] = {
        version: api.kinds_of(version) for version in sorted({version for version, _kind in needed - known.keys()})
    }
    found = {(version, kind): served[version].get(kind) for version, kind in needed - known.keys()}
    return known | {key: kind for key, kind in found.items() if kind is not None}


class UnreadableChart(ValueError):
    """The default chart cannot be used."""


def chart_of(collector: Collector, default: str) -> Chart:
    """Return the chart of a Collector; `default` is the directory of the default one, which may be UnreadableChart."""
    return remote_chart(collector.chart) if collector.chart else local_chart(default)


def local_chart(path: str) -> Chart:
    """Return the chart in a directory; UnreadableChart if there is none."""
    if not is_safe_path(path):
        raise UnreadableChart(f"The path {path!r} of the chart has characters other than letters, digits and /._+-.")
    try:
        document = load_yaml((Path(path) / "Chart.yaml").read_text(encoding="utf-8"))
        return Chart(str(document["name"]), str(document["version"]), path)
    except (OSError, InvalidYaml, UnicodeDecodeError, LookupError, TypeError) as error:
        raise UnreadableChart(f"{path} is not a readable chart of Helm ({type(error).__name__}).") from None


def remote_chart(address: ChartAddress) -> Chart:
    """Return the chart in a repository, whose address has been validated and allowed."""
    if address.repository.startswith(_OCI):
        reference = f"{address.repository}/{address.name}"
        return Chart(address.name, address.version, reference, requested_version=address.version)
    return Chart(address.name, address.version, address.name, address.repository, address.version)


# Kubernetes repeats a warning within this time as long as its cause is there.
_RECENT = timedelta(minutes=10)
_KINDS = ("Pod", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")
_MAX_MESSAGE = 300


def latest_problem(reads: Reads, collector: Collector) -> str:
    """Return the latest recent warning about a pod of the release; empty if none can be read."""
    try:
        events = reads.list_objects("Event", field_selector="type=Warning", namespace=collector.tenant)
    except KubernetesError:
        return ""
    return problem_of(events, collector.release, timestamp(datetime.now(UTC) - _RECENT))


def problem_of(events: Iterable[Manifest], release: str, since: str) -> str:
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
