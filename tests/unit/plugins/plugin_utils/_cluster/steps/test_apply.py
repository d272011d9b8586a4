# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which writes are bound to the version of the object that they were decided on."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.state import (
    Drain,
    GroupDrain,
    WorkerGroup,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.writes import with_kept_pods
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import compare
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, execute
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import Response, Server

Manifest = dict[str, Any]
RECORD = '[{"pod":"a-1"}]'


def workload(
    record: str | None = None, partition: int | None = None, label: str = "", name: str = names.DRAIN_ANNOTATION
) -> Manifest:
    """Return a StatefulSet whose replicas an autoscaler sets."""
    manifest = druid.rendered("StatefulSet")
    metadata = {**manifest["metadata"], "labels": {**manifest["metadata"]["labels"], "label": label}}
    annotations = {**(metadata.get("annotations") or {}), **({name: record} if record else {})}
    spec = {name: value for name, value in manifest["spec"].items() if name != "replicas"}
    if partition is not None:
        spec["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
    return {**manifest, "metadata": {**metadata, "annotations": annotations}, "spec": spec}


def update(before: Manifest, after: Manifest) -> Apply:
    live = before if "uid" in before["metadata"] else stored(before)
    return Apply(manifest=after, group="g", live=live, after=compare(live, after).predicted)


# (the StatefulSet before, and after; whether it is written only to the version that was read)
WRITES: dict[str, tuple[Manifest, Manifest, bool]] = {
    "another field": (workload(label="a"), workload(label="b"), False),
    "a partition that stays": (workload(partition=2, label="a"), workload(partition=2, label="b"), False),
    "a lower partition": (workload(partition=2), workload(partition=1), True),
    "a higher partition": (workload(), workload(partition=1), True),
    "a partition that is removed": (workload(partition=1), workload(), True),
    "the first record": (workload(), workload(RECORD), True),
    "a changed record": (workload(RECORD), workload("[]"), True),
    "a removed record": (workload(RECORD), workload(), True),
    "the first decommissioned Historical": (workload(), workload(RECORD, name=names.DECOMMISSION_ANNOTATION), True),
    "no decommissioned Historical": (workload(RECORD, name=names.DECOMMISSION_ANNOTATION), workload(), True),
    "another field beside a record": (workload(RECORD, label="a"), workload(RECORD, label="b"), True),
}


@pytest.mark.parametrize(("before", "after", "is_bound"), WRITES.values(), ids=WRITES)
def test_a_step_of_a_drain_is_written_only_to_the_version_that_was_read(
    before: Manifest, after: Manifest, is_bound: bool
) -> None:
    metadata = update(before, after).bound_manifest["metadata"]
    assert (metadata["uid"], metadata.get("resourceVersion")) == ("uid-of-druid-c-brokers", "1" if is_bound else None)


def test_a_drain_is_not_bound_when_its_workload_is_created() -> None:
    assert "uid" not in Apply(manifest=workload(RECORD), group="g").bound_manifest["metadata"]


def test_a_later_record_is_not_overwritten(server: Server, api: KubernetesApi) -> None:
    step = update(workload(RECORD, 2), workload(RECORD, 1))
    later = stored(workload("[]", 1))
    later["metadata"]["resourceVersion"] = "2"
    conflict = Response(409, {"message": "the object has been modified", "reason": "Conflict"})
    server.responses = [conflict, Response(body=later)]
    [result] = execute([step], Context(api))
    assert result.error is not None
    assert "was modified concurrently, so nothing was written to it" in result.error
    assert [request.method for request in server.requests] == ["PATCH", "GET"]


def drained(updated: int) -> Manifest:
    """Return a live StatefulSet, of whose two pods a partition keeps the first one, and so many are up to date."""
    live = stored(workload(RECORD, 2, label="a"))
    status = {"replicas": 2, "updatedReplicas": updated, "observedGeneration": 1}
    return {**live, "spec": {**live["spec"], "replicas": 2}, "status": status}


# (the pods that are up to date at first, and after a conflict; the record of the part that does not wait)
HELD: dict[str, tuple[int, int, str]] = {
    "a pod is to be released, and then is not any more": (0, 2, "[]"),
    "no pod is to be released, and then one is": (2, 0, RECORD),
}


@pytest.mark.parametrize(("before", "later", "record"), HELD.values(), ids=HELD)
def test_the_part_that_does_not_wait_has_the_record_of_the_latest_version(
    server: Server, api: KubernetesApi, before: int, later: int, record: str
) -> None:
    live, manifest = drained(before), workload("[]", 1, label="b")
    drain = GroupDrain(Group("g", {}, rolling.cluster()), WorkerGroup(live["metadata"]["name"], 2, 2), Drain(1, 2))
    [step] = with_kept_pods([update(live, manifest)], [drain])
    conflict = Response(409, {"message": "the object has been modified", "reason": "Conflict"})
    server.responses = [conflict, Response(body=drained(later)), Response(body=compare(live, manifest).predicted)]
    part = step.dry_run(Context(api)).step.without_restart()
    assert part is not None
    assert part.manifest["metadata"]["annotations"][names.DRAIN_ANNOTATION] == record
