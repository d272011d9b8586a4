# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Revisions of a Helm release, as Helm 3 stores them in Secrets. Pure.

A Secret of type helm.sh/release.v1 has the revision as JSON, compressed with gzip, in Base64, in the Secret's Base64.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._collector import names
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.documents import (
    MAX_BYTES,
    UnreadableRelease,
    documents,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

DEPLOYED, FAILED = "deployed", "failed"
PENDING = frozenset({"pending-install", "pending-upgrade", "pending-rollback", "uninstalling"})
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
            name = labels.get(names.OWNER_LABEL)
            if name:
                return labels.get(names.OWNER_NAMESPACE_LABEL, ""), name
        return None

    @property
    def created(self) -> str:
        """When the earliest revision that exists was created, by the clock of the API server; empty if unknown."""
        return min((str(secret["metadata"].get("creationTimestamp") or "") for secret in self.secrets), default="")


def release_of(secrets: Iterable[Manifest]) -> Release | None:
    """Return the release in these Secrets, None if there is none; UnreadableRelease if one cannot be read."""
    found = [secret for secret in secrets if secret.get("type") == names.HELM_SECRET_TYPE]
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
