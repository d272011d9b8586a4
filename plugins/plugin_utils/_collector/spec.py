# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Collector resource, parsed. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._collector import names
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import CustomResource, mapping

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
        return names.owner_labels(self.namespace, self.name)

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
