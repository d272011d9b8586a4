# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects of a release are left alone, and which ones make the resource not ready."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._collector import drift, status
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release, Revision
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import CollectorResult, Objects, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import FIELD_MANAGER
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding

NOW = datetime(2026, 1, 1, tzinfo=UTC)
REVISION = Revision({}, 1, "deployed", "c", "1.0.0", "", {}, ())
RESOURCE: dict[str, Any] = {"metadata": {"name": "a", "namespace": "ns", "uid": "u", "generation": 1}}


def manifest(kind: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "n"}, **fields}


@pytest.mark.parametrize(
    ("entry", "is_left"),
    [
        ({"manager": "hpa", "subresource": "scale"}, True),
        ({"manager": "kubectl"}, False),
        ({"manager": FIELD_MANAGER, "subresource": "scale"}, False),
        ({"manager": "hpa", "subresource": "scale", "fieldsV1": {"f:spec": {}}}, False),
    ],
)
def test_replicas_of_an_autoscaler(entry: dict[str, Any], is_left: bool) -> None:
    owned = {"fieldsV1": {"f:spec": {"f:replicas": {}}}, **entry}
    live = {"metadata": {"managedFields": [owned]}}
    found = drift.without_scaled(manifest("Deployment", spec={"replicas": 1, "paused": False}), live)
    assert found["spec"] == ({"paused": False} if is_left else {"replicas": 1, "paused": False})


def test_temporary_objects() -> None:
    assert drift.is_temporary(manifest("Job", spec={"ttlSecondsAfterFinished": 0}))
    assert not drift.is_temporary(manifest("Job", spec={}))
    assert not drift.is_temporary(manifest("Service"))


def test_same_object() -> None:
    one = manifest("Service")
    assert drift.is_same(one, {**one, "spec": {}})
    for other in ({"apiVersion": "v2"}, {"kind": "Pod"}, {"metadata": {"name": "m"}}):
        assert not drift.is_same(one, {**one, **other})


def pods(
    replicas: int, available: int = 0, updated: int = 0, total: int = 2, observed: int = 3, **spec: Any
) -> dict[str, Any]:
    """Return a workload of generation 3."""
    counted = {"availableReplicas": available, "replicas": total, "updatedReplicas": updated}
    status = {**counted, "observedGeneration": observed}
    return {"generation": 3, "spec": {"replicas": replicas, **spec}, "status": status}


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        ("Deployment", pods(2, available=1, updated=2), ["Deployment n (1/2)"]),
        ("Deployment", pods(2, available=2, updated=2), []),
        # pods of the former revision are available
        ("Deployment", pods(2, available=2, total=3, updated=1), ["Deployment n (0/2)"]),
        ("Deployment", pods(1, available=1, total=2, updated=1), ["Deployment n (0/1)"]),
        ("Deployment", pods(1, available=2, total=2, updated=1), []),
        ("Deployment", pods(2, available=2, updated=2, observed=2), ["Deployment n (0/2)"]),
        ("Deployment", pods(0), []),
        ("StatefulSet", pods(2, available=2, updated=0), ["StatefulSet n (0/2)"]),
        ("StatefulSet", pods(2, available=2, updateStrategy={"type": "OnDelete"}), []),
        ("StatefulSet", pods(2, available=2, updateStrategy={"rollingUpdate": {"partition": 1}}), []),
        (
            "DaemonSet",
            {"status": {"desiredNumberScheduled": 3, "currentNumberScheduled": 3, "numberAvailable": 2}},
            ["DaemonSet n (0/3)"],
        ),
        ("DaemonSet", {"status": {"desiredNumberScheduled": 0}}, []),
        ("Service", {}, []),
    ],
)
def test_unavailable(kind: str, fields: dict[str, Any], expected: list[str]) -> None:
    live = manifest(kind, **fields)
    live["metadata"]["generation"] = live.pop("generation", 0)
    assert [*drift._unavailable(live)] == expected


def test_written_workload_is_not_ready_in_the_same_reconcile() -> None:
    assert [*drift.restarted(manifest("Deployment"), "restored")] == ["Deployment n (restored)"]
    assert [*drift.restarted(manifest("Service"), "restored")] == []


def reconciled(**fields: Any) -> CollectorResult:
    result = CollectorResult(RESOURCE, Plan(), Collector.from_resource(RESOURCE), Release((), REVISION, REVISION))
    return replace(result, **fields)


def test_ready() -> None:
    paused = Finding(reasons.PAUSED, "It is paused.", is_problem=False)
    missing = reconciled(objects=Objects(unavailable=("Deployment n (0/1)",)))
    for result, findings, expected in (
        (reconciled(), [], ("True", reasons.RELEASE_DEPLOYED)),
        (missing, [], ("False", reasons.PODS_NOT_READY)),
        (reconciled(), [paused], ("True", reasons.PAUSED)),
        (missing, [paused], ("False", reasons.PAUSED)),
    ):
        ready = status.conditions(result, findings, False)[0]
        assert (ready["status"], ready["reason"]) == expected
        assert ("n (0/1)" in ready["message"]) == bool(result.objects.unavailable)


def test_what_is_not_applied_is_not_ready() -> None:
    refused = Finding(reasons.INVALID_SPEC, "It is invalid.")
    pending = Finding(reasons.CHANGES_PENDING, "It is paused, with changes.", is_problem=False)
    for finding in (refused, pending):
        ready = status.conditions(reconciled(), [finding], False)[0]
        assert (ready["status"], ready["reason"]) == ("False", finding.reason)


def test_begun_installation_is_recorded_until_the_mark() -> None:
    def release_in_status(**fields: Any) -> dict[str, Any]:
        found: dict[str, Any] = status.status(reconciled(**fields), [], NOW, False).get("release", {})
        return found

    assert release_in_status(is_installing=True)["installing"] is True
    assert "installing" not in release_in_status()
