# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How many clusters there are, and how they are: what each one's own pass has written into its status."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import is_reached
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Manifest

CONDITIONS = ("Ready", "Progressing", "Degraded", "Paused")


def read(api: KubernetesApi, namespaces: Sequence[str]) -> list[Manifest] | None:
    """Return the resources of the namespaces (none: of all), or None when they cannot be read."""
    try:
        return [each for namespace in namespaces or (None,) for each in api.list_objects(names.KIND, namespace)]
    except KubernetesError:
        return None


def with_own(
    resources: Iterable[Manifest], namespace: str, name: str, status: Mapping[str, Any] | None
) -> list[Manifest]:
    """Return the resources as a pass has left its own: with this status, or (None) gone. A cache may be behind."""
    found = {(each["metadata"]["namespace"], each["metadata"]["name"]): each for each in resources}
    own = found.pop((namespace, name), {"metadata": {"namespace": namespace, "name": name}})
    return [*found.values(), *([] if status is None else [{**own, "status": status}])]


def census(resources: Iterable[Manifest]) -> dict[str, float]:
    """Return the gauges about all clusters; moments in seconds since 1970, 0 for never.

    One that is being deleted counts no more: nobody may be left to take it out of the count when it has gone.
    """
    found = [_conditions(each) for each in resources if not each["metadata"].get("deletionTimestamp")]
    counts = {f"clusters_{kind.lower()}": float(sum(_is_true(each, kind) for each in found)) for kind in CONDITIONS}
    waiting = (each["Ready"] for each in found if "Ready" in each and not _is_as_wanted(each))
    degraded = (each["Degraded"] for each in found if _is_true(each, "Degraded"))
    return {
        "clusters": float(len(found)),
        **counts,
        "not_ready_since_timestamp_seconds": _earliest(waiting),
        "degraded_since_timestamp_seconds": _earliest(degraded),
    }


def _conditions(resource: Manifest) -> dict[str, Mapping[str, Any]]:
    return {each["type"]: each for each in (resource.get("status") or {}).get("conditions") or ()}


def _is_true(conditions: Mapping[str, Mapping[str, Any]], kind: str) -> bool:
    return bool(kind in conditions and conditions[kind]["status"] == "True")


def _is_as_wanted(conditions: Mapping[str, Mapping[str, Any]]) -> bool:
    return is_reached(conditions.values()) or _is_true(conditions, "Paused")


def _earliest(conditions: Iterable[Mapping[str, Any]]) -> float:
    return min(_moments(conditions), default=0.0)


def _moments(conditions: Iterable[Mapping[str, Any]]) -> Iterator[float]:
    """Yield when each condition has become what it is; what somebody else has written there may be no time at all."""
    for each in conditions:
        with suppress(KeyError, TypeError, ValueError):
            moment = datetime.fromisoformat(each["lastTransitionTime"])
            yield (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
