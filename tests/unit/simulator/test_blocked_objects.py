# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An object on which nothing depends blocks only itself, and a refused spec changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.simulator.specification import (
    NAMESPACE,
    NEW_IMAGE,
    OLD_IMAGE,
    Cluster,
    Group,
)
from ansible_collections.druidops.druid.tests.unit.simulator.actions import (
    Controllers,
    Converge,
    Create,
    Edit,
    Grow,
    Run,
    Specify,
)
from ansible_collections.druidops.druid.tests.unit.simulator.environment import Break, Refuse
from ansible_collections.druidops.druid.tests.unit.simulator.invariants import Observer
from ansible_collections.druidops.druid.tests.unit.simulator.restarts import image_of
from ansible_collections.druidops.druid.tests.unit.simulator.subject import By


@pytest.mark.parametrize("kind", ["PodDisruptionBudget", "HorizontalPodAutoscaler"])
def test_a_refused_object_blocks_nothing_else(kind: str) -> None:
    observer = Observer("playbook")
    observer.act(Create(Cluster({"brokers": Group(autoscaler=(1, 3))})))
    observer.converge()
    world = observer.subject.world

    def refuse(live: dict[str, Any]) -> str | None:
        return "no" if live["kind"] == kind else None

    world.server.admit = refuse
    missing = world.store.get(kind, NAMESPACE, "druid-c-brokers")
    assert missing is not None
    world.store.delete(missing)
    observer.act(Edit("image", NEW_IMAGE))
    observer.act(Run("playbook"))
    live = world.store.get("StatefulSet", NAMESPACE, "druid-c-brokers")
    assert live is not None
    assert live["spec"]["template"]["spec"]["containers"][0]["image"] == NEW_IMAGE
    report = observer.subject.run("playbook")
    assert report is not None
    assert [finding.object for finding in report.problems] == [f"{kind} druid-c-brokers"]
    observer.converge()


@pytest.mark.parametrize("by", ["operator", "playbook"])
def test_the_service_that_resolves_the_names_of_pods_stays_headless(by: By) -> None:
    observer = Observer(by)
    observer.act(Create(Cluster()))
    observer.converge()
    store, name = observer.subject.world.store, "druid-c-brokers"
    for action in (Edit("is_headless", False, "brokers"), Edit("image", NEW_IMAGE), Run(by), Controllers(20)):
        observer.act(action)
    report = observer.subject.run(by)
    assert report is not None
    [finding] = report.problems
    assert (finding.reason, finding.object) == (reasons.INVALID_SPEC, f"Service {name}")
    assert "stay headless" in finding.message
    assert not report.changed
    assert _address(observer, name) == "None"
    assert {pod["spec"]["containers"][0]["image"] for pod in store.of_kind("Pod")} == {NEW_IMAGE}
    observer.act(Edit("stopped", True, "brokers"))
    observer.converge()
    assert _address(observer, name) != "None"


# brokers: druid-c-brokers-hot, brokers-hot: druid-c-brokers-hot-x; then the other way round.
ONE_WAY = {"brokers": Group(service="%s-hot"), "brokers-hot": Group(service="%s-x")}
OTHER_WAY = {"brokers": Group(service="%s-hot-x"), "brokers-hot": Group(service="%s")}
# The first one has a third Service, and the second one that of the first.
SHIFTED = {"brokers": Group(service="%s-third"), "brokers-hot": Group(service="%s")}


@pytest.mark.parametrize("by", ["operator", "playbook"])
def test_groups_that_exchange_their_services_change_nothing(by: By) -> None:
    """The way out is that of the message: one of them has another name, until its pods have been recreated."""
    observer = Observer(by)
    observer.act(Create(Cluster(ONE_WAY)))
    observer.converge()
    observer.act(Specify(Cluster(OTHER_WAY, image=NEW_IMAGE)))
    for check_mode in (True, False):
        report = observer.subject.run(by, check_mode=check_mode)
        assert report is not None
        assert [(each.reason, each.group) for each in report.problems] == [
            (reasons.INVALID_SPEC, "brokers"),
            (reasons.INVALID_SPEC, "brokers-hot"),
        ]
        assert not report.changed
    observer.subject.world.settle()
    observer.all_pods_are_addressable()
    observer.act(Specify(Cluster(ONE_WAY | {"brokers": Group(service="%s-third")}, image=NEW_IMAGE)))
    observer.converge()
    observer.act(Specify(Cluster(SHIFTED, image=OLD_IMAGE)))
    observer.converge()
    observer.act(Specify(Cluster(OTHER_WAY)))
    observer.act(Edit("image", NEW_IMAGE))
    observer.converge()


@pytest.mark.parametrize("by", ["operator", "playbook"])
def test_a_group_waits_for_the_service_of_another_one(by: By) -> None:
    """Until the other one has new pods; meanwhile the names of all pods resolve."""
    observer = Observer(by)
    observer.act(Create(Cluster(ONE_WAY)))
    observer.converge()
    observer.act(Specify(Cluster(SHIFTED)))
    report = observer.subject.run(by)
    assert report is not None
    assert [(each.reason, each.group) for each in report.problems] == [(reasons.INVALID_SPEC, "brokers-hot")]
    for _time in range(12):
        observer.act(Run(by))
        observer.act(Controllers(2))
        observer.all_pods_are_addressable()
    observer.converge()


def _address(observer: Observer, name: str) -> str | None:
    live = observer.subject.world.store.get("Service", NAMESPACE, name)
    assert live is not None
    address: str | None = live["spec"].get("clusterIP")
    return address


@pytest.mark.parametrize("by", ["operator", "playbook"])
def test_a_refused_spec_changes_nothing_and_can_be_deleted(by: By) -> None:
    observer = Observer(by)
    observer.act(Create(Cluster()))
    observer.converge()
    before = observer.subject.world.store.of_kind("StatefulSet", "Deployment", "PersistentVolumeClaim", "Pod")
    observer.act(Edit("kind", "DaemonSet", "brokers"))
    report = observer.subject.run(by)
    assert report is not None
    assert [finding.reason for finding in report.problems] == [reasons.INVALID_SPEC]
    observer.subject.world.settle()
    assert observer.subject.world.store.of_kind("StatefulSet", "Deployment", "PersistentVolumeClaim", "Pod") == before
    observer.delete()


HISTORICALS, BROKERS, NEW_GROUP = (f"druid-c-{key}" for key in ("historicals", "brokers", "historicals-hot"))


def images(observer: Observer) -> dict[str, str]:
    return {each["metadata"]["name"]: image_of(each) for each in observer.subject.world.store.of_kind("StatefulSet")}


@pytest.mark.parametrize("rolls", [True, False])
def test_a_refused_group_holds_the_restarts_of_later_ones_and_nothing_else(rolls: bool) -> None:
    observer = Observer("playbook")
    for action in (Create(Cluster(rolls=rolls)), Converge(), Refuse("historicals"), Edit("image", NEW_IMAGE)):
        observer.act(action)
    groups = {"brokers": Group(replicas=3), "historicals": Group(), "historicals-hot": Group()}
    observer.act(Specify(Cluster(groups, rolls=rolls, image=NEW_IMAGE)))
    for _time in range(3):
        observer.act(Run("playbook"))
        observer.act(Controllers(20))
    assert images(observer) == {HISTORICALS: OLD_IMAGE, BROKERS: OLD_IMAGE, NEW_GROUP: NEW_IMAGE}
    store = observer.subject.world.store
    brokers = store.get("StatefulSet", NAMESPACE, BROKERS)
    assert brokers is not None
    assert brokers["spec"]["replicas"] == 3
    report = observer.subject.run("playbook")
    assert report is not None
    [warning] = report.plan.rollout_warnings
    assert warning.startswith("brokers restarts after historicals, which is blocked")
    conditions = {each["type"]: each for each in report.status["conditions"]}
    assert conditions["RolloutWarnings"]["message"] == warning
    progressing = conditions["Progressing"]
    assert (progressing["status"], progressing["reason"]) == ("False", "RejectedByAPIServer")
    assert "druid.apache.org/restart-out-of-order" in warning
    live = observer.subject.live
    assert live is not None
    store.update_metadata(live, annotations={"druid.apache.org/restart-out-of-order": "true"})
    observer.subject.run("playbook")
    assert images(observer) == {HISTORICALS: OLD_IMAGE, BROKERS: NEW_IMAGE, NEW_GROUP: NEW_IMAGE}
    observer.converge()


def test_a_group_whose_pods_cannot_run_is_repaired_although_an_earlier_one_is_refused() -> None:
    observer = Observer("playbook")
    for action in (Create(Cluster(rolls=True)), Converge(), Break(OLD_IMAGE, "crashing"), Controllers(20)):
        observer.act(action)
    for action in (Refuse("historicals"), Edit("image", NEW_IMAGE), Run("playbook")):
        observer.act(action)
    assert images(observer) == {HISTORICALS: OLD_IMAGE, BROKERS: NEW_IMAGE}


@pytest.mark.parametrize("rolls", [True, False])
def test_a_downgrade_waits_for_the_group_that_is_last_in_an_upgrade(rolls: bool) -> None:
    observer = Observer("playbook")
    for action in (Create(Cluster(image=NEW_IMAGE, rolls=rolls)), Converge(), Refuse("brokers")):
        observer.act(action)
    for action in (Edit("image", OLD_IMAGE), Run("playbook")):
        observer.act(action)
    assert images(observer) == {HISTORICALS: NEW_IMAGE, BROKERS: NEW_IMAGE}


@pytest.mark.parametrize("rolls", [True, False])
def test_a_group_whose_volume_cannot_grow_is_not_overtaken(rolls: bool) -> None:
    """The StatefulSet would have to be recreated, which no dry run has shown."""
    groups = {"brokers": Group(), "historicals": Group(storage_class="fixed")}
    observer = Observer("playbook")
    store = observer.subject.world.store
    store.create({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fixed"}})
    for action in (Create(Cluster(groups, rolls=rolls, expands_pvcs=True)), Converge(), Edit("image", NEW_IMAGE)):
        observer.act(action)
    for action in (Grow("historicals"), Run("playbook"), Controllers(20), Run("playbook")):
        observer.act(action)
    assert images(observer) == {HISTORICALS: OLD_IMAGE, BROKERS: OLD_IMAGE}
    report = observer.subject.run("playbook")
    assert report is not None
    assert [each.reason for each in report.problems] == [reasons.VOLUMES_NOT_EXPANDABLE]
    assert report.plan.rollout_warnings
