# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Revisions of a Helm release, as Helm 3 stores them in Secrets, and the objects in YAML that they have. Pure.

A Secret of type helm.sh/release.v1 has the revision as JSON, compressed with gzip, in Base64, in the Secret's Base64.
A user of the tenant may have written that Secret: whatever it has, the rest of this package can take as objects.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.parse import InvalidYaml, load_yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import (
    HELM_SECRET_TYPE,
    OWNER_LABEL,
    OWNER_NAMESPACE_LABEL,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

# Kubernetes stores at most about 1 MiB, which gzip may have compressed a thousandfold.
MAX_BYTES = 8 * 2**20
_SEPARATOR = re.compile(r"^---(?=\s|$).*$", re.MULTILINE)
_API_VERSION = re.compile(r"([a-z0-9][a-z0-9.-]*/)?[a-z][a-z0-9]*")
# It is a part of a path.
_NAME = re.compile(r"(?!\.{1,2}$)[^/%]{1,253}")
_NAMESPACE = re.compile(r"[a-z0-9-]{1,63}")


class HelmError(DruidopsError):
    """Helm failed."""


class UnreadableRelease(ValueError):
    """A Secret does not have a release in the format of Helm 3."""


def documents(text: str) -> tuple[Manifest, ...]:
    """Return the objects in YAML documents; UnreadableRelease if a document is not an object."""
    try:
        # A line that begins with three hyphens always separates documents: text in a document is indented.
        found = [each for part in _SEPARATOR.split(text) if (each := load_yaml(part))]
    except InvalidYaml as error:
        raise UnreadableRelease(f"a rendered template is not YAML: {error}") from None
    if not _is_limited(found):
        raise UnreadableRelease("a rendered template is too large")
    flat = [item for each in found for item in _items(each)]
    if not all(map(_is_object, flat)):
        raise UnreadableRelease("a rendered template is not an object of Kubernetes with a name")
    return tuple(flat)


def _is_limited(document: Any) -> bool:
    """Return whether the document is not too large: each reference to an anchor counts, as in JSON."""
    waiting, size = [document], 0
    while waiting and size <= MAX_BYTES:
        one = waiting.pop()
        inside = _inside(one)
        size += len(inside) + (len(one) if isinstance(one, str) else 0)
        waiting += inside
    return size <= MAX_BYTES


def _inside(one: Any) -> list[Any]:
    if isinstance(one, dict):
        return [*one, *one.values()]
    return one if isinstance(one, list) else []


def _items(document: Any) -> Iterable[Any]:
    """Return the objects in a document. Helm opens every object with `items`, whatever its kind."""
    if not isinstance(document, dict) or "items" not in document:
        return [document]
    if not isinstance(document["items"], list):
        raise UnreadableRelease("a rendered template has items that are not a list")
    return [item for each in document["items"] for item in _items(each)]


def _is_object(document: Any) -> bool:
    if not isinstance(document, dict):
        return False
    metadata = document.get("metadata")
    return (
        _is_text(document.get("apiVersion"), _API_VERSION)
        and _is_text(document.get("kind"), _NAME)
        and isinstance(metadata, dict)
        and _is_text(metadata.get("name"), _NAME)
        and (not metadata.get("namespace") or _is_text(metadata["namespace"], _NAMESPACE))
        and all(isinstance(metadata.get(name) or {}, dict) for name in ("labels", "annotations"))
    )


def _is_text(value: Any, pattern: re.Pattern[str]) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


DEPLOYED, FAILED = "deployed", "failed"
# kubernetes.core.helm does nothing about a release in this state.
UNINSTALLING = "uninstalling"
PENDING = frozenset({"pending-install", "pending-upgrade", "pending-rollback", UNINSTALLING})
# What the decoding of arbitrary data raises.
_DAMAGED = (
    *(AttributeError, LookupError, TypeError, ValueError, OverflowError, RecursionError),
    *(OSError, EOFError, zlib.error),
)


@dataclass(frozen=True)
class Revision:
    """One revision. `labels` are those of its Secret, `values` those that were specified for it.

    `hooks` are the objects of its hooks, which are not in the manifest.
    """

    secret: Manifest
    number: int
    state: str
    chart: str
    chart_version: str
    app_version: str
    values: Mapping[str, Any]
    manifest: tuple[Manifest, ...]
    hooks: tuple[Manifest, ...] = ()
    description: str = ""
    updated: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def chart_title(self) -> str:
        return f"{self.chart}-{self.chart_version}"


@dataclass(frozen=True)
class Release:
    """A release: the Secrets of all revisions, the latest one first, and the revisions that are needed of them."""

    secrets: tuple[Manifest, ...]
    latest: Revision
    deployed: Revision | None

    @property
    def owner(self) -> tuple[str, str] | None:
        """Namespace and name of the Collector that the release belongs to, according to its labels."""
        for labels in map(_labels, self.secrets):
            name = labels.get(OWNER_LABEL)
            if name:
                return labels.get(OWNER_NAMESPACE_LABEL, ""), name
        return None

    @property
    def created(self) -> str:
        """When the earliest revision that exists was created, by the clock of the API server; empty if unknown."""
        return min((str(secret["metadata"].get("creationTimestamp") or "") for secret in self.secrets), default="")


def release_of(secrets: Iterable[Manifest]) -> Release | None:
    """Return the release in these Secrets, None if there is none; UnreadableRelease if one cannot be read."""
    found = [secret for secret in secrets if secret.get("type") == HELM_SECRET_TYPE]
    if not found:
        return None
    ordered = sorted(found, key=_number, reverse=True)
    # Only these are decoded: a Secret may be large.
    latest = _revision(ordered[0])
    deployed = next((each for each in ordered if _labels(each).get("status") == DEPLOYED), None)
    if deployed is None:
        return Release(tuple(ordered), latest, None)
    return Release(tuple(ordered), latest, latest if deployed is ordered[0] else _revision(deployed))


def _labels(secret: Manifest) -> Mapping[str, str]:
    return secret["metadata"].get("labels") or {}


def _number(secret: Manifest) -> int:
    """Return the number of the revision, from the label by which Helm itself finds it."""
    number = _labels(secret).get("version", "")
    if not (number.isascii() and number.isdecimal()):
        raise UnreadableRelease(f"Secret {secret['metadata']['name']} has no label with the number of its revision")
    return int(number)


def _revision(secret: Manifest) -> Revision:
    name = secret["metadata"]["name"]
    try:
        found = _decompressed(base64.b64decode(base64.b64decode(secret["data"]["release"])))
        information, metadata = found["info"], found["chart"]["metadata"]
        return Revision(
            secret=secret,
            number=int(found["version"]),
            state=str(information.get("status", "unknown")),
            chart=str(metadata["name"]),
            chart_version=str(metadata["version"]),
            app_version=str(metadata.get("appVersion", "")),
            values=found.get("config") or {},
            manifest=documents(found.get("manifest") or ""),
            hooks=tuple(item for hook in found.get("hooks") or () for item in documents(hook.get("manifest") or "")),
            description=str(information.get("description", "")),
            updated=str(information.get("last_deployed", "")),
            labels=_labels(secret),
        )
    except UnreadableRelease as error:
        raise UnreadableRelease(f"Secret {name} has a release that cannot be used: {error}") from None
    except _DAMAGED as error:
        raise UnreadableRelease(f"Secret {name} is not a release of Helm 3 ({type(error).__name__})") from None


def _decompressed(data: bytes) -> Any:
    """Return the JSON; ValueError if it is implausibly large."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        text = file.read(MAX_BYTES + 1)
    if len(text) > MAX_BYTES:
        raise ValueError("too large")
    return json.loads(text)
