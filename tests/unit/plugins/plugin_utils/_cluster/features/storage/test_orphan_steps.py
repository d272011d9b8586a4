# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What may use an orphaned PVC is read again before its deletion, which is bound to the version of the plan."""

from __future__ import annotations

from typing import Any, cast

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.orphans import (
    DeleteOrphan,
    Orphan,
    StillUsed,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.patch import Notice
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.orphans import (
    autoscaler,
    claim,
    pod,
    stateful_set,
)

NAME, SET = "d-druid-c-brokers-1", "druid-c-brokers"
NOTICE = Notice("OrphanedPVCDeleted", "orphaned")


def delete_orphan(api: Api, orphan: Orphan, resource: dict[str, Any] | None = None) -> None:
    step = DeleteOrphan(group="brokers", live=claim(NAME), notice=NOTICE, orphan=orphan, resource=resource)
    step.carry_out(Context(cast(KubernetesApi, api)))


def scaled(manager: str, subresource: str = "scale", replicas: int = 1) -> dict[str, Any]:
    """Return the StatefulSet, whose replicas this client has set."""
    live = stateful_set(SET, replicas=replicas)
    entry = {"manager": manager, "subresource": subresource, "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    return {**live, "metadata": {**live["metadata"], "managedFields": [entry]}}


def resource(generation: int = 3, **metadata: Any) -> dict[str, Any]:
    own = {"name": "c", "namespace": "ns", "uid": "u", "generation": generation}
    return {"kind": "Druid", "metadata": {**own, **metadata}, "spec": {}}


class Api:
    """Gets and lists objects, and records the deletions."""

    def __init__(self, *objects: dict[str, Any]) -> None:
        self.objects = objects
        self.deleted: list[tuple[Any, ...]] = []

    def list_objects(self, kind: str, namespace: str) -> list[dict[str, Any]]:
        assert namespace == "ns"
        return [each for each in self.objects if each["kind"] == kind]

    def get(self, kind: str, namespace: str, name: str) -> dict[str, Any] | None:
        found = (each for each in self.list_objects(kind, namespace) if each["metadata"]["name"] == name)
        return next(found, None)

    def delete(self, *what: str, resource_version: str) -> None:
        self.deleted.append((*what, resource_version))


@pytest.mark.parametrize("orphan", [Orphan(SET, 1), Orphan("druid-c-old", None)])
def test_deletion(orphan: Orphan) -> None:
    api = Api(stateful_set(SET, replicas=1)) if orphan.replicas else Api()
    delete_orphan(api, orphan)
    assert api.deleted == [("PersistentVolumeClaim", "ns", NAME, f"uid-of-{NAME}", "7")]


@pytest.mark.parametrize("objects", [[scaled("kubectl")], [scaled("x", "")], [scaled("keda"), autoscaler(SET, 1)]])
def test_known_numbers_of_pods(objects: list[dict[str, Any]]) -> None:
    api = Api(*objects)
    delete_orphan(api, Orphan(SET, 1))
    assert len(api.deleted) == 1


@pytest.mark.parametrize(
    ("objects", "reason"),
    [
        ([stateful_set(SET, replicas=1), pod("p", NAME)], "pod p mounts it"),
        ([stateful_set(SET, replicas=2)], f"StatefulSet {SET} needs it"),
        ([stateful_set(SET, replicas=0)], f"StatefulSet {SET} needs it"),
        ([stateful_set(SET, replicas=1), autoscaler(SET, 2)], f"StatefulSet {SET} needs it"),
        ([stateful_set(SET, "e", replicas=1)], f"StatefulSet {SET} has no template for it"),
        # Their autoscaler is deleted, maybe for a while.
        ([scaled("kube-controller-manager")], f"StatefulSet {SET} needs it"),
        ([scaled("keda")], f"StatefulSet {SET} needs it"),
        ([scaled("druidops-autoscaled", "")], f"StatefulSet {SET} needs it"),
        ([], f"StatefulSet {SET} does not exist"),
    ],
)
def test_what_is_used_again_stays(objects: list[dict[str, Any]], reason: str) -> None:
    api = Api(*objects)
    # The spec requests no pod, so that only what is live decides.
    with pytest.raises(StillUsed, match=f"^PersistentVolumeClaim {NAME} is not deleted: {reason}.$"):
        delete_orphan(api, Orphan(SET, 0))
    assert api.deleted == []


def test_a_resource_that_did_not_change() -> None:
    api = Api(stateful_set(SET, replicas=1), resource(annotations={"a": "b"}, resourceVersion="9"))
    delete_orphan(api, Orphan(SET, 1), resource(resourceVersion="8"))
    assert len(api.deleted) == 1


@pytest.mark.parametrize(
    "latest",
    [
        [],
        [resource(generation=4)],
        [resource(uid="v")],
        [resource(deletionTimestamp="2026-01-02T03:04:05Z")],
        [resource(annotations={"druid.apache.org/ignored": "true"})],
    ],
    ids=["deleted", "changed", "recreated", "terminating", "paused"],
)
def test_a_resource_that_was_changed(latest: list[dict[str, Any]]) -> None:
    api = Api(stateful_set(SET, replicas=1), *latest)
    with pytest.raises(StillUsed, match=f"^PersistentVolumeClaim {NAME} is not deleted: Druid c was modified"):
        delete_orphan(api, Orphan(SET, 1), resource())
    assert api.deleted == []
