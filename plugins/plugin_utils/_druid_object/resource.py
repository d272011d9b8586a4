# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A resource that describes something in a Druid: which Druid it is, and who else describes something there. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from ansible_collections.druidops.druid.plugins.module_utils._http.address import server_url
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import masked
from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import differing_fields
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import CustomResource, mapping

API_VERSION = "druid.apache.org/v1alpha1"
# What was or will be submitted for a resource: JSON. No author writes it, and nothing is deleted in Druid without it.
NOTE_ANNOTATION = "druid.apache.org/submitted"


class DruidObject(CustomResource):
    """A resource with the fields `druidCluster`, `endpoint`, `auth` and `deletionPolicy`.

    It may have been stored under an older schema: a part that is not a mapping counts as not set.
    """

    @property
    def cluster(self) -> str | None:
        """The name of the Druid resource."""
        return self.spec.get("druidCluster") or None

    @property
    def target(self) -> str:
        """The specified Druid: the cluster or the canonical address; empty if neither is specified."""
        if self.cluster is not None:
            return f"druidCluster {self.cluster}"
        url = self.endpoint.get("url")
        return "" if url is None else str(canonical_url(url))

    @property
    def endpoint(self) -> Mapping[str, Any]:
        return mapping(self.spec.get("endpoint"))

    @property
    def auth(self) -> Mapping[str, Any]:
        return mapping(self.spec.get("auth"))

    def text(self, name: str) -> str:
        """Return a text of the spec, empty if it is not set."""
        value = self.spec.get(name)
        return value if isinstance(value, str) else ""

    @property
    def retains(self) -> bool:
        """Whether what is in Druid outlives the resource."""
        return bool(self.spec.get("deletionPolicy") == "Retain")


def canonical_url(url: Any) -> Any:
    """Return the canonical form of an address; an invalid one unchanged."""
    try:
        return server_url(url) if isinstance(url, str) else url
    except InvalidInput:
        # an invalid address cannot be equal to a valid one
        return url


def problems_of_target(resource: DruidObject) -> Iterator[str]:
    """Yield what is wrong with the fields that name the Druid."""
    has_cluster, has_url = resource.cluster is not None, resource.endpoint.get("url") is not None
    if has_cluster and has_url:
        yield "druidCluster: endpoint.url is also set. Remove one of them."
    elif not (has_cluster or has_url):
        yield "druidCluster: set druidCluster to a Druid resource, or endpoint.url to the address of a Druid."


def plain_secrets(document: Any) -> list[str]:
    """Return the fields of a specification in Druid's format that have secrets in plain text."""
    stored = _without_environment(document)
    return sorted(differing_fields(stored, masked(stored)))


def _without_environment(value: Any) -> Any:
    """Return a spec without the values that Druid reads from its environment, since these are only names."""
    if isinstance(value, Mapping):
        is_elsewhere = value.get("type") == "environment"
        return {} if is_elsewhere else {name: _without_environment(each) for name, each in value.items()}
    return [_without_environment(each) for each in value] if isinstance(value, list) else value


def note_patch(metadata: Mapping[str, Any], text: str) -> list[dict[str, Any]]:
    """Return the JSON patch for the annotation, which requires that no other run has written it since."""
    annotations, path = metadata.get("annotations") or {}, "/metadata/annotations"
    key = f"{path}/{NOTE_ANNOTATION.replace('/', '~1')}"
    last = annotations.get(NOTE_ANNOTATION)
    unchanged = "resourceVersion" if last is None else "uid"
    return [
        {"op": "test", "path": f"/metadata/{unchanged}", "value": metadata.get(unchanged)},
        *([{"op": "test", "path": key, "value": last}] if last is not None else []),
        *([] if annotations else [{"op": "add", "path": path, "value": {}}]),
        {"op": "add", "path": key, "value": text},
    ]


_SHAPES = {"druidCluster": str, "auth": dict, "endpoint": dict}


def readable(resource: Manifest, **shapes: type) -> Manifest:
    """Return the resource with the readable fields of its spec: it may be stored under an older schema.

    `shapes` are the types of fields besides the common ones.
    """
    spec = resource.get("spec")
    fields = spec.items() if isinstance(spec, dict) else ()
    expected = {**_SHAPES, **shapes}
    return {**resource, "spec": {name: value for name, value in fields if _is_readable(name, value, expected)}}


def _is_readable(name: str, value: object, expected: Mapping[str, type]) -> bool:
    if name == "endpoint" and isinstance(value, dict):
        return isinstance(value.get("url", ""), str)
    return isinstance(value, expected.get(name, object))


_Object = TypeVar("_Object", bound=DruidObject)


def of_same_druid(resource: DruidObject, siblings: Iterable[_Object]) -> list[_Object]:
    """Return the other resources for the same Druid that are not terminating."""
    own = _target(resource)
    return [each for each in siblings if not each.is_terminating and _target(each) == own]


def age(resource: DruidObject) -> tuple[str, str]:
    """Return the sort key that has the oldest resource first: it owns what several specify."""
    # one that variables define has no age: it counts as the youngest
    return resource.created or "9999", resource.uid or ""


def _target(resource: DruidObject) -> tuple[str | None, Any]:
    """Return the specified Druid; an invalid value is a target of its own."""
    endpoint = resource.spec.get("endpoint")
    return resource.cluster, canonical_url(endpoint.get("url") if isinstance(endpoint, Mapping) else endpoint)
