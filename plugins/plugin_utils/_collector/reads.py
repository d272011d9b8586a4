# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a reconcile of a Collector reads, and its decision: the chart, the API server, why pods are unavailable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ansible_collections.druidops.druid.plugins.module_utils._values.parse import InvalidYaml, load_yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.drift import (
    compare_objects,
    kinds_of,
    rejected_object,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm import Rendered
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import (
    HelmError,
    Release,
    UnreadableRelease,
    release_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.scope import Kinds
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import (
    KIND,
    ChartAddress,
    Collector,
    is_safe_path,
    labels_of_release,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import (
    Chart,
    NamespaceState,
    Objects,
    Observed,
    Target,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import excerpt

_OCI = "oci://"


class CollectorReads(Reads):
    """What a decision reads, in Kubernetes and of a chart. KubernetesError if that fails."""

    def __init__(self, api: KubernetesApi, collector: Collector, options: Options) -> None:
        super().__init__(api, collector.namespace)
        self._collector = collector
        self._options = options

    @property
    def _objects(self) -> KubernetesApi:
        return self._options.connection_of(self._api, self._collector.tenant)

    @property
    def _named(self) -> tuple[str, str]:
        return self._collector.release, self._collector.tenant

    def release(self) -> tuple[Release | None, str]:
        """Return the release, and why it cannot be read."""
        return observe_release(self, self._collector.tenant, self._collector.release)

    def is_namespace_deleted(self) -> bool:
        """Return whether the namespace is terminating or does not exist; false if neither can be seen."""
        return is_deleted_namespace(self, self._collector.tenant)

    def namespace(self) -> NamespaceState:
        """Return whether objects can be created in the namespace of the release."""
        return namespace_state(self, self._collector.tenant)

    def kinds(self, manifests: Sequence[Manifest]) -> Kinds:
        """Return the kinds of these objects, without those that the server does not have."""
        return self.ask("kinds", manifests, lambda: kinds_of(self._api, manifests))

    def latest_problem(self) -> str:
        """Return the latest warning about a pod of the release; empty if there is none."""
        return latest_problem(self, self._collector)

    def compared(self, manifest: Sequence[Manifest]) -> Objects:
        """Return how the live objects differ from the manifest of the release, by dry runs."""
        return self.ask("compared", manifest, lambda: compare_objects(self._objects, manifest, *self._named))

    def rejected(self, rendered: Sequence[Manifest]) -> str:
        """Return why the API server rejects an object of a chart, by dry runs; empty if it accepts all of them."""
        return self.ask("rejected", rendered, lambda: rejected_object(self._objects, rendered, *self._named))

    def rendered(self, target: Target) -> Rendered | Finding:
        """Return the objects of the chart, or why Helm cannot render it. It is not connected to the API server."""
        try:
            return self.ask("rendered", target, lambda: self._options.helm.rendered(target))
        except HelmError as error:
            return Finding(reasons.HELM_FAILED, str(error))


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
