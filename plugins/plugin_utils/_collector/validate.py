# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Validation of a Collector, again after the CRD: another CRD, or none, may have admitted the resource. Pure.

Names, versions and addresses become words of Helm's command line. kubernetes.core builds that line as a text, splits
it, and expands ~ and $: none of their patterns admits a character with a meaning there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import ChartAddress, Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Finding

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
