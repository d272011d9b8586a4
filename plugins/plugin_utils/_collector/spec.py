# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Collector resource: its names and labels, its parsed and validated spec, and the chart's values. Pure."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.secrets import secret_digest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import CustomResource, mapping
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import properties

KIND = "Collector"
FINALIZER = "collector.druid.apache.org/release"

# On the Secrets of Helm's revisions: the Collector that the release belongs to. Helm copies them to later revisions.
OWNER_LABEL = "druid.apache.org/collector"
OWNER_NAMESPACE_LABEL = "druid.apache.org/collector-namespace"
# On the Secret of a revision: what was deployed with it, and its number, since Helm also copies this label.
DEPLOYED_LABEL = "druid.apache.org/collector-deployed"
# A new value requests one more attempt of a failed installation or upgrade. The same as of an ingestion.
RETRY_ANNOTATION = "druid.apache.org/retry"

# What Helm itself sets: its Secrets, and its mark on the objects of a release.
HELM_SECRET_TYPE = "helm.sh/release.v1"
HELM_RELEASE_ANNOTATION = "meta.helm.sh/release-name"
HELM_HOOK_ANNOTATION = "helm.sh/hook"
HELM_KEEP_ANNOTATION = "helm.sh/resource-policy"
HELM_NAMESPACE_ANNOTATION = "meta.helm.sh/release-namespace"
MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"


def labels_of_release(release: str) -> str:
    """Return the label selector of the Secrets with the revisions of a release."""
    return f"owner=helm,name={release}"


def owner_labels(namespace: str, name: str) -> dict[str, str]:
    """Return the labels of the release of this Collector."""
    return {OWNER_LABEL: name, OWNER_NAMESPACE_LABEL: namespace}


def user_of(service_account: str, namespace: str) -> str:
    """Return the user of the administrator's ServiceAccount in the namespace of a tenant; empty without one."""
    return f"system:serviceaccount:{namespace}:{service_account}" if service_account else ""


PLAIN, BASE64 = "Plain", "Base64"
# The fields with a reference to the configuration, and the kind that each refers to.
SOURCES: Mapping[str, str] = {"configMapKeyRef": "ConfigMap", "secretKeyRef": "Secret"}


@dataclass(frozen=True)
class Source:
    """A key of a ConfigMap or Secret with the configuration; `field` is the path of the reference in the spec."""

    kind: str
    name: str
    key: str
    field: str


@dataclass(frozen=True)
class ChartAddress:
    """A chart in a repository."""

    repository: str
    name: str
    version: str


class Collector(CustomResource):
    """One Collector; `uid` is None without a resource. A part of the spec with another type counts as not set."""

    @property
    def title(self) -> str:
        return f"Collector {self.namespace}/{self.name}"

    @property
    def release(self) -> str:
        """The name of the Helm release."""
        return _text(self._collector.get("name"))

    @property
    def tenant(self) -> str:
        """The namespace of the Helm release."""
        return _text(self.spec.get("tenant")) or self.namespace

    @property
    def cluster(self) -> str:
        """The name of the Druid whose pods are scraped, or an empty text."""
        return _text(self.spec.get("cluster"))

    @property
    def version(self) -> str:
        """The tag of the image, or an empty text for that of the chart."""
        return _text(self._collector.get("version"))

    @property
    def config(self) -> str | None:
        """The configuration in the resource itself."""
        specified = self._collector.get("config")
        return specified if isinstance(specified, str) else None

    @property
    def source(self) -> Source | None:
        """The reference to the configuration."""
        specified = mapping(self._collector.get("configFrom"))
        for field, kind in SOURCES.items():
            reference = mapping(specified.get(field))
            if reference:
                path = f"spec.collector.configFrom.{field}"
                return Source(kind, _text(reference.get("name")), _text(reference.get("key")), path)
        return None

    @property
    def sources(self) -> int:
        """The number of places that specify a configuration."""
        specified = mapping(self._collector.get("configFrom"))
        return (self.config is not None) + sum(bool(specified.get(field)) for field in SOURCES)

    @property
    def is_base64(self) -> bool:
        return bool(self._collector.get("configEncoding") == BASE64)

    @property
    def chart(self) -> ChartAddress | None:
        """The chart in a repository; None for the default chart."""
        specified = self.spec.get("chart")
        if not isinstance(specified, Mapping):
            return None
        return ChartAddress(*(_text(specified.get(part)) for part in ("repository", "name", "version")))

    @property
    def values(self) -> Mapping[str, Any]:
        return mapping(self.spec.get("values"))

    @property
    def environment_secrets(self) -> tuple[str, ...]:
        """Names of the Secrets of the tenant that are environment variables, a value of the default chart."""
        specified = None if self.chart else self.values.get("environmentSecrets")
        return tuple(each for each in specified if isinstance(each, str)) if isinstance(specified, list) else ()

    @property
    def takes_over(self) -> bool:
        return self.spec.get("takeOver") is True

    @property
    def retains(self) -> bool:
        """Whether the release outlives the resource."""
        return bool(self.spec.get("deletionPolicy") == "Retain")

    @property
    def owner_labels(self) -> dict[str, str]:
        return owner_labels(self.namespace, self.name)

    @property
    def recorded_release(self) -> tuple[str, str]:
        """Namespace and name of the release in the status: it was recorded before its installation."""
        recorded = mapping(self.status.get("release"))
        return _text(recorded.get("namespace")), _text(recorded.get("name"))

    @property
    def installed_chart(self) -> str:
        """The chart in the status, if its installation has begun, and our mark is not yet on the release."""
        recorded = mapping(self.status.get("release"))
        return _text(recorded.get("chart")) if recorded.get("installing") is True else ""

    @property
    def failed_attempt(self) -> Mapping[str, Any]:
        return mapping(self.status.get("failedAttempt"))

    @property
    def _collector(self) -> Mapping[str, Any]:
        return mapping(self.spec.get("collector"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_CHART_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?")
_CHART_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(-[A-Za-z0-9.-]+)?(\+[A-Za-z0-9.-]+)?")
_REPOSITORY = re.compile(
    r"(https|oci)://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(/[A-Za-z0-9][A-Za-z0-9._-]*)*",
)
# A path on the controller: what kubernetes.core could expand or split is refused.
_PATH = re.compile(r"/[A-Za-z0-9/._+-]*")
# Helm's limit for the name of a release, and those of Kubernetes.
MAX_RELEASE, MAX_NAMESPACE, MAX_LABEL = 53, 63, 63
# Values of the default chart that other fields set.
RESERVED = ("config", "druid", "environmentChecksum", "fullnameOverride", "nameOverride")
RESERVED_OF_IMAGE = "tag"
# What is not known from the cluster.
OWN_OF_DRUID = frozenset({"metricsPort", "scrapeInterval"})


def problems(collector: Collector, allowed_repositories: Sequence[str]) -> tuple[Finding, ...]:
    """Return what is wrong with the resource, without anything that it refers to."""
    invalid = (Finding(reasons.INVALID_SPEC, text) for text in _invalid(collector))
    return (*invalid, *_refused_chart(collector.chart, allowed_repositories))


def is_safe_path(path: str) -> bool:
    """Return whether a path has no character with a meaning in Helm's command line."""
    return _PATH.fullmatch(path) is not None


def is_safe_release(name: str) -> bool:
    """Return whether a text is the name of a release."""
    return len(name) <= MAX_RELEASE and _LABEL.fullmatch(name) is not None


def is_namespace(name: str) -> bool:
    """Return whether a text is the name of a namespace."""
    return len(name) <= MAX_NAMESPACE and _LABEL.fullmatch(name) is not None


def _invalid(collector: Collector) -> Iterator[str]:
    if len(collector.name) > MAX_LABEL:
        yield f"metadata.name: at most {MAX_LABEL} characters, because it is a label of the release. Shorten it."
    if not is_safe_release(collector.release):
        yield (
            f"spec.collector.name: must be a name of at most {MAX_RELEASE} lower-case letters, digits and hyphens, "
            "because it is the name of the Helm release."
        )
    if not is_namespace(collector.tenant):
        yield "spec.tenant: must be the name of a namespace."
    if collector.version and not _TAG.fullmatch(collector.version):
        yield "spec.collector.version: must be the tag of an image."
    if collector.sources > 1:
        yield "spec.collector: set only one of config, configFrom.configMapKeyRef and configFrom.secretKeyRef."
    yield from _of_other_chart(collector, collector.chart) if collector.chart else _reserved(collector)


def _of_other_chart(collector: Collector, address: ChartAddress) -> Iterator[str]:
    if not _REPOSITORY.fullmatch(address.repository):
        yield "spec.chart.repository: must be an address such as https://charts.example.com or oci://example.com/charts."
    if not _CHART_NAME.fullmatch(address.name) or ".." in address.name:
        yield "spec.chart.name: must be the name of a chart."
    if not _CHART_VERSION.fullmatch(address.version):
        yield "spec.chart.version: must be an exact version, such as 1.2.3."
    for field, is_set in (
        ("collector.version", bool(collector.version)),
        ("collector.config", collector.config is not None),
        ("collector.configFrom", collector.source is not None),
        ("cluster", bool(collector.cluster)),
    ):
        if is_set:
            yield f"spec.{field}: only the default chart has this value. Use spec.values for another chart."


def _reserved(collector: Collector) -> Iterator[str]:
    for name in RESERVED:
        if name in collector.values and not (name == "druid" and _sets_only_own(collector)):
            yield f"spec.values.{name}: another field of this resource sets this value. Remove it here."
    image = collector.values.get("image")
    if isinstance(image, dict) and RESERVED_OF_IMAGE in image:
        yield "spec.values.image.tag: set spec.collector.version instead."


def _sets_only_own(collector: Collector) -> bool:
    druid = collector.values.get("druid")
    return isinstance(druid, dict) and druid.keys() <= OWN_OF_DRUID


def _refused_chart(address: ChartAddress | None, allowed: Sequence[str]) -> Iterator[Finding]:
    if address is not None and address.repository not in {each.rstrip("/") for each in allowed}:
        yield Finding(
            reasons.CHART_NOT_ALLOWED,
            f"spec.chart.repository: the administrator does not allow {address.repository}. Remove spec.chart to "
            "use the default chart, or have the repository allowed: in the module by allowed_chart_repositories, in "
            "the role by druid_collector_allowed_chart_repositories, in the operator by ALLOWED_CHART_REPOSITORIES.",
        )


class InvalidConfig(ValueError):
    """The text cannot be decoded. The message does not quote it."""


def decoded(text: str, is_base64: bool) -> str:
    """Return the configuration in a text; InvalidConfig if it is not Base64 of UTF-8."""
    if not is_base64:
        return text
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        raise InvalidConfig("is not Base64 of UTF-8 text. Correct it, or set configEncoding to Plain.") from None


def text_of(holder: Mapping[str, Any], key: str) -> str | None:
    """Return the text in a key of a ConfigMap or Secret, None if there is none; InvalidConfig if it is not UTF-8."""
    found = (holder.get("data") or {}).get(key)
    if found is None or holder["kind"] == "ConfigMap":
        return None if found is None else str(found)
    try:
        return base64.b64decode(found).decode("utf-8")
    except ValueError:
        raise InvalidConfig(f"key {key} is not UTF-8 text.") from None


PORT_PROPERTY = "druid.emitter.prometheus.port"
_PORT = re.compile(r"[1-9][0-9]{0,4}")


def values(
    collector: Collector, config: str | None, druid: Manifest | None, environment: Sequence[Manifest | None] = ()
) -> dict[str, Any]:
    """Return the values: those of the resource, and for the default chart what its other fields set."""
    specified = dict(collector.values)
    if collector.chart is not None:
        return specified
    if collector.version:
        specified["image"] = {**mapping(specified.get("image")), "tag": collector.version}
    if config is not None:
        specified["config"] = config
    if environment:
        # A Secret that changes restarts the pods.
        specified["environmentChecksum"] = secret_digest(environment)
    if collector.cluster:
        specified["druid"] = {
            **({} if druid is None else _port(druid)),
            **mapping(specified.get("druid")),
            "name": collector.cluster,
            "namespace": collector.namespace,
        }
    return specified


def _port(druid: Manifest) -> dict[str, int]:
    """Return the port of the Prometheus emitter, if the properties of all groups specify it."""
    specified = mapping(druid.get("spec")).get("common.runtime.properties")
    port = properties(specified).get(PORT_PROPERTY, "") if isinstance(specified, str) else ""
    # Another number is for Druid to refuse.
    return {"metricsPort": int(port)} if _PORT.fullmatch(port) else {}
