# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Manual edits of an adopted cluster whose templates have duplicates: only our fields are reverted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.go_operator import WORKLOADS, GoOperator, take_over
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    without_status,
)

NAME = "hand"
ROUTERS = "druid-hand-routers"
HISTORICALS = "druid-hand-historicals-hot"


def _set(value: Any, *path: str) -> Callable[[Manifest], object]:
    def change(live: Manifest) -> None:
        for step in path[:-1]:
            live = live[step]
        live[path[-1]] = value

    return change


OURS: dict[str, tuple[str, str, Callable[[Manifest], object]]] = {
    "replicas": ("StatefulSet", ROUTERS, _set(0, "spec", "replicas")),
    "annotation of a workload": ("StatefulSet", ROUTERS, _set("mine", "metadata", "annotations", "owner")),
    "annotation of a Deployment": (
        "Deployment",
        "druid-hand-brokers",
        _set("mine", "metadata", "annotations", "owner"),
    ),
    "label": ("StatefulSet", HISTORICALS, _set("mine", "metadata", "labels", "team")),
    "file": ("ConfigMap", "hand-druid-common-config", _set("x", "data", "metricDimensions.json")),
    "file more": ("ConfigMap", f"{ROUTERS}-config", _set("x", "data", "mine")),
    "port": ("Service", "druid-hand-coordinators", lambda live: live["spec"]["ports"][0].update(port=9999)),
    "selector": ("Service", "druid-hand-coordinators-api", _set("mine", "spec", "selector", "team")),
    "budget": ("PodDisruptionBudget", HISTORICALS, _set(0, "spec", "maxUnavailable")),
    "autoscaler": ("HorizontalPodAutoscaler", "druid-hand-brokers", _set(99, "spec", "maxReplicas")),
    "host": ("Ingress", ROUTERS, lambda live: live["spec"]["rules"][0].update(host="mine.example.com")),
}


@pytest.fixture
def adopted(golden: NamespaceClient) -> NamespaceClient:
    """The recorded cluster, taken over."""
    GoOperator(golden, NAME).run().settled()
    take_over(golden, NAME)
    return golden


def content(live: Manifest) -> Manifest:
    """Return the fields of an object that a specification determines."""
    metadata = {key: live["metadata"].get(key) for key in ("labels", "annotations", "ownerReferences")}
    return {**{key: value for key, value in live.items() if key != "status"}, "metadata": metadata}


def templates(live: NamespaceClient) -> dict[str, Manifest]:
    """Return the pod template of each workload."""
    return {each["metadata"]["name"]: each["spec"]["template"] for kind in WORKLOADS for each in live.list(kind)}


def test_drift_of_adopted_objects_is_reverted_without_template_changes(adopted: NamespaceClient) -> None:
    before = templates(adopted)
    for what, (kind, name, change) in OURS.items():
        original, edited = adopted.edit(kind, name, change)
        assert content(edited) != content(original), what
        outcome = one_pass(adopted, NAME)
        assert [tuple(step.key) for step in outcome.plan.steps] == [(kind, name)], what
        assert content(adopted.get(kind, name)) == content(original), what
    assert templates(adopted) == before
    assert one_pass(adopted, NAME).plan.steps == ()


def restarted(live: NamespaceClient) -> list[str]:
    """Reconcile once, and return the workloads whose pods that restarts."""
    return [str(step.key) for step in one_pass(live, NAME).plan.steps if step.restart.is_requested]


def test_foreign_additions_to_a_template_are_kept(adopted: NamespaceClient) -> None:
    def add(live: Manifest) -> None:
        live["spec"]["template"]["spec"]["containers"].append({"name": "mine", "image": "example.com/x"})
        live["spec"]["template"]["spec"]["containers"][0]["env"].append({"name": "MINE", "value": "x"})

    for kind in WORKLOADS:
        for each in adopted.list(kind):
            adopted.restart(kind, each["metadata"]["name"])
            adopted.edit(kind, each["metadata"]["name"], add)
    before = templates(adopted)
    mark = adopted.mark()
    outcome = one_pass(adopted, NAME)
    assert (outcome.plan.findings, outcome.plan.steps) == ((), ())
    assert without_status(adopted.writes(mark)) == []
    # It is kept also when the template changes and loses its duplicates.
    adopted.merge("Druid", NAME, {"spec": {"nodes": {"routers": {"image": "apache/druid:36.0.0"}}}})
    # once the pods of the restart are ready
    assert eventually(lambda: restarted(adopted)) == [f"StatefulSet {ROUTERS}"]
    after = templates(adopted)
    routers = after[ROUTERS]
    assert "kubectl.kubernetes.io/restartedAt" in routers["metadata"]["annotations"]
    assert {each["name"] for each in routers["spec"]["containers"]} == {ROUTERS, "side", "mine"}
    variables = [each["name"] for each in routers["spec"]["containers"][0]["env"]]
    assert sorted(variables) == ["A", "EMPTY", "MINE", "configMapSHA"]
    assert {name: each for name, each in after.items() if name != ROUTERS} == {
        name: each for name, each in before.items() if name != ROUTERS
    }
    assert one_pass(adopted, NAME).plan.steps == ()


def test_changed_template_is_reverted_without_its_duplicates(adopted: NamespaceClient) -> None:
    before = templates(adopted)

    def change(live: Manifest) -> None:
        live["spec"]["template"]["spec"]["containers"][0].update(image="example.com/mine", command=["/mine.sh"])

    adopted.edit("StatefulSet", ROUTERS, change)
    outcome = one_pass(adopted, NAME)
    assert outcome.plan.findings == ()
    assert any(text.startswith("spec.nodes[routers]: container") for text in outcome.warnings)
    after = templates(adopted)
    main, original = (each[ROUTERS]["spec"]["containers"][0] for each in (after, before))
    assert [each["name"] for each in main["env"]] == ["A", "EMPTY", "configMapSHA"]
    assert {**main, "env": None} == {**original, "env": None}
    assert {name: each for name, each in after.items() if name != ROUTERS} == {
        name: each for name, each in before.items() if name != ROUTERS
    }
    assert one_pass(adopted, NAME).plan.steps == ()
