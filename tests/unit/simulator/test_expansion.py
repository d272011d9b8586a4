# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PVCs grow one group after the other, without a restart, wherever the operator is interrupted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.druidops.druid.tests.simulator.specification import Cluster, Group
from ansible_collections.druidops.druid.tests.simulator.store import Manifest
from ansible_collections.druidops.druid.tests.unit.simulator.actions import Create, Run, Specify
from ansible_collections.druidops.druid.tests.unit.simulator.subject import Subject

CLAIM = "PersistentVolumeClaim"
CLASS = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "ssd"}}


def cluster(storage: str) -> Cluster:
    groups = {key: Group(storage=storage) for key in ("brokers", "historicals")}
    return Cluster(groups, expands_pvcs=True)


def running(allows: bool = True) -> Subject:
    """Return a cluster whose PVCs have a class, and volumes of their size."""
    subject = Subject()
    subject.world.store.create({**CLASS, "allowVolumeExpansion": allows})
    Create(cluster("1Gi")).act(subject)
    for _time in range(3):
        Run().act(subject)
        subject.world.settle()
    for claim in claims(subject):
        subject.world.store.update({**claim, "spec": {**claim["spec"], "storageClassName": "ssd"}})
    resize(subject)
    return subject


def claims(subject: Subject) -> list[Manifest]:
    return subject.world.store.of_kind(CLAIM)


def size(claim: Manifest) -> str:
    return str(claim["spec"]["resources"]["requests"]["storage"])


def resize(subject: Subject) -> None:
    """Let the storage driver give each volume the requested size."""
    for claim in claims(subject):
        subject.world.store.update({**claim, "status": {"phase": "Bound", "capacity": {"storage": size(claim)}}})


def keep_capacity(subject: Subject) -> None:
    """The driver has not done anything yet; the kubelet of the simulator has dropped the capacity."""
    for claim in claims(subject):
        status = {"capacity": {"storage": "1Gi"}, **claim["status"]}
        subject.world.store.update({**claim, "status": status})


def pods(subject: Subject) -> set[str]:
    return {each["metadata"]["uid"] for each in subject.world.store.of_kind("Pod")}


def sizes(subject: Subject, group: str) -> set[str]:
    return {size(each) for each in claims(subject) if group in each["metadata"]["name"]}


def templates(subject: Subject, group: str) -> set[str]:
    found = (each for each in subject.world.store.of_kind("StatefulSet") if group in each["metadata"]["name"])
    return {size(template) for each in found for template in each["spec"]["volumeClaimTemplates"]}


def ready(subject: Subject) -> tuple[str, str]:
    assert subject.live is not None
    [found] = [each for each in subject.live["status"]["conditions"] if each["type"] == "Ready"]
    return found["status"], found["reason"]


def test_groups_grow_one_after_the_other() -> None:
    subject = running()
    before = pods(subject)
    Specify(cluster("2Gi")).act(subject)
    for _time in range(3):
        Run().act(subject)
        subject.world.settle()
        keep_capacity(subject)
    assert (sizes(subject, "historicals"), templates(subject, "historicals")) == ({"2Gi"}, {"2Gi"})
    assert (sizes(subject, "brokers"), templates(subject, "brokers")) == ({"1Gi"}, {"1Gi"})
    assert ready(subject) == ("False", "ExpandingVolumes")
    for _time in range(4):
        resize(subject)
        Run().act(subject)
        subject.world.settle()
    assert (sizes(subject, "brokers"), templates(subject, "brokers")) == ({"2Gi"}, {"2Gi"})
    assert ready(subject) == ("True", "AllPodsReady")
    assert pods(subject) == before
    report = subject.run(check_mode=True)
    assert report is not None
    assert not report.changed


@pytest.mark.parametrize("allows", [False, True])
def test_the_storage_class_must_allow_it(allows: bool) -> None:
    subject = running(allows)
    Specify(cluster("2Gi")).act(subject)
    for _time in range(6):
        Run().act(subject)
        subject.world.settle()
        resize(subject)
    assert sizes(subject, "brokers") == ({"2Gi"} if allows else {"1Gi"})
    assert templates(subject, "historicals") == ({"2Gi"} if allows else {"1Gi"})
    assert (ready(subject)[1] == "VolumesNotExpandable") != allows


@pytest.mark.parametrize("request_number", range(0, 40, 2))
def test_an_interrupted_expansion_is_finished(request_number: int) -> None:
    subject = running()
    before = pods(subject)
    Specify(replace(cluster("2Gi"))).act(subject)
    Run("operator", (request_number, "killed after")).act(subject)
    for _time in range(8):
        subject.world.settle()
        resize(subject)
        Run().act(subject)
    assert sizes(subject, "") == templates(subject, "") == {"2Gi"}
    assert pods(subject) == before
    assert ready(subject) == ("True", "AllPodsReady")


def test_what_others_have_grown_further_stays() -> None:
    subject = running()
    [grown, *_others] = claims(subject)
    requests = {"requests": {"storage": "5Gi"}}
    subject.world.store.update({**grown, "spec": {**grown["spec"], "resources": requests}})
    Specify(cluster("2Gi")).act(subject)
    for _time in range(8):
        subject.world.settle()
        resize(subject)
        Run().act(subject)
    assert sizes(subject, "") == {"2Gi", "5Gi"}
