# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Count of the resources of a kind and their conditions, from the status of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind

# Conditions of one resource, by type.
ConditionsByType = Mapping[str, Mapping[str, Any]]
Status = Mapping[str, Any]


class FinalStatus(NamedTuple):
    """The final status of the reconciled resource, None if it was deleted."""

    status: Status | None


def count_resources(
    kind: Kind[Any, Any, Any], cache: KubernetesApi | None, arguments: Mapping[str, Any], left: FinalStatus | None
) -> dict[str, float] | None:
    """Return the gauges of all resources in the cache, None if it did not respond or there is no cache.

    ``arguments`` are those of the action, ``left`` is None if the final status of the own resource is unknown.
    """
    watched = [name for name in map(str.strip, arguments["metrics_namespaces"]) if name]
    resources = read(cache, kind.name, watched) if cache else None
    if resources is not None and left is not None:
        resources = with_own(resources, arguments["namespace"], arguments["name"], left.status)
    return None if resources is None else census(kind, resources)


def read(api: KubernetesApi, kind: str, namespaces: Sequence[str]) -> list[Manifest] | None:
    """Return the resources of the namespaces (empty: all namespaces), or None if they cannot be read."""
    try:
        return [each for namespace in namespaces or (None,) for each in api.list_objects(kind, namespace)]
    except KubernetesError:
        return None


def with_own(resources: Iterable[Manifest], namespace: str, name: str, status: Status | None) -> list[Manifest]:
    """Return the resources with the final status of the own one, or (None) without it. The cache may be stale."""
    found = {(each["metadata"]["namespace"], each["metadata"]["name"]): each for each in resources}
    own = found.pop((namespace, name), {"metadata": {"namespace": namespace, "name": name}})
    return [*found.values(), *([] if status is None else [{**own, "status": status}])]


def census(kind: Kind[Any, Any, Any], resources: Iterable[Manifest]) -> dict[str, float]:
    """Return the gauges of all resources; timestamps in seconds since 1970, 0 for never.

    A terminating resource does not count: no reconcile may follow its deletion to decrease the count.
    """
    statuses = [each.get("status") or {} for each in resources if not is_terminating(each)]
    found = [{each["type"]: each for each in status.get("conditions") or ()} for status in statuses]
    counts = {name.lower(): float(sum(is_true(each, name) for each in found)) for name in kind.condition_types}
    waiting = (each["Ready"] for each in found if "Ready" in each and not kind.is_as_desired(each))
    degraded = (each["Degraded"] for each in found if is_true(each, "Degraded"))
    return {
        kind.plural: float(len(found)),
        **{f"{kind.plural}_{condition}": number for condition, number in counts.items()},
        "not_ready_since_timestamp_seconds": _earliest(waiting),
        "degraded_since_timestamp_seconds": _earliest(degraded),
        **kind.gauges(statuses),
    }


def is_true(conditions: ConditionsByType, kind: str) -> bool:
    """Return whether the condition of this type exists and is True."""
    return bool(kind in conditions and conditions[kind]["status"] == "True")


def _earliest(conditions: Iterable[Mapping[str, Any]]) -> float:
    return min(_moments(conditions), default=0.0)


def _moments(conditions: Iterable[Mapping[str, Any]]) -> Iterator[float]:
    """Yield the transition time of each condition; skip invalid timestamps."""
    for each in conditions:
        with suppress(KeyError, TypeError, ValueError):
            moment = datetime.fromisoformat(each["lastTransitionTime"])
            yield (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
