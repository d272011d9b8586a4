# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The effects of a step: stopped pods, deleted and retained PVCs, names that no longer resolve.

All PVCs of the namespace are read where some may be deleted, and only there.
"""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names, plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.effects import (
    may_delete_claims,
    with_effects,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.patch import Patch
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.recreate import Recreate
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step

Manifest = dict[str, Any]
CLAIM = "PersistentVolumeClaim"


def named(kind: str, name: str, **more: Any) -> Manifest:
    return {"kind": kind, "metadata": {"name": name, "namespace": "ns", "uid": name}, **more}


def stateful_set(replicas: int, when_scaled: str = "Retain") -> Manifest:
    policy = {"whenScaled": when_scaled}
    templates = [{"metadata": {"name": "d"}}]
    return named(
        "StatefulSet",
        "s",
        spec={
            "replicas": replicas,
            "persistentVolumeClaimRetentionPolicy": policy,
            "volumeClaimTemplates": templates,
            "template": {},
        },
    )


def deployment(replicas: int) -> Manifest:
    return named("Deployment", "s", spec={"replicas": replicas, "template": {}})


def autoscaler(maximum: int) -> Manifest:
    spec = {"maxReplicas": maximum, "scaleTargetRef": {"kind": "StatefulSet", "name": "s"}}
    return named("HorizontalPodAutoscaler", "s", spec=spec)


def update(live: Manifest, after: Manifest) -> Step:
    return Apply(manifest=after, group="g", live=live, after=after)


def delete(live: Manifest) -> Step:
    return Delete(live=live)


def claims(*ordinals: int, of: str = "s") -> list[Manifest]:
    return [named("PersistentVolumeClaim", f"d-{of}-{ordinal}") for ordinal in ordinals]


def orphans(*ordinals: int) -> list[Manifest]:
    """Return pods whose StatefulSet was deleted to be recreated."""
    pods = [named("Pod", f"s-{ordinal}", spec={}) for ordinal in ordinals]
    return [{**pod, "metadata": {**pod["metadata"], "labels": {names.GROUP_LABEL: "s"}}} for pod in pods]


def with_volumes(pods: list[Manifest]) -> list[Manifest]:
    """Return the pods with the volumes that the StatefulSet controller has given them."""
    names_of_claims = (f"d-{pod['metadata']['name']}" for pod in pods)
    volumes = ([{"name": "d", "persistentVolumeClaim": {"claimName": name}}] for name in names_of_claims)
    return [{**pod, "spec": {"volumes": each}} for pod, each in zip(pods, volumes, strict=True)]


def of_template(name: str) -> Manifest:
    live = stateful_set(2)
    return {**live, "spec": {**live["spec"], "volumeClaimTemplates": [{"metadata": {"name": name}}]}}


DELETING_SET = stateful_set(3, "Delete")
THREE = [DELETING_SET, *claims(0, 1, 2)]
DELETED = "delete PersistentVolumeClaim {} (whenScaled: Delete) (destructive)"
RETAINED = "retain {} of StatefulSet s: {}"
# (id, live objects, steps, effects)
TABLE: list[tuple[str, list[Manifest], list[Step], list[str]]] = [
    ("created", [], [Apply(manifest=DELETING_SET, group="g", after=DELETING_SET)], []),
    ("more pods", THREE, [update(DELETING_SET, stateful_set(4, "Delete"))], []),
    ("fewer pods", THREE, [update(DELETING_SET, stateful_set(1, "Delete"))],
     ["stop 2 pods of StatefulSet s", DELETED.format("d-s-1"), DELETED.format("d-s-2")]),
    ("fewer pods, retained", [stateful_set(2), *claims(0, 1)], [update(stateful_set(2), stateful_set(1))],
     ["stop 1 pod of StatefulSet s", RETAINED.format("1 PVC", "d-s-1")]),
    ("policy changed to Retain", THREE, [update(DELETING_SET, stateful_set(0))],
     ["stop 3 pods of StatefulSet s", RETAINED.format("3 PVCs", "d-s-0, d-s-1, d-s-2")]),
    ("recreated with fewer", THREE,
     [Recreate(manifest=DELETING_SET, group="g", live=DELETING_SET, after=stateful_set(2, "Delete"))],
     ["stop 1 pod of StatefulSet s", DELETED.format("d-s-2")]),
    ("created for the pods of a deleted one", [*orphans(0, 1, 2), *claims(0, 1, 2)],
     [Apply(manifest=stateful_set(2), group="g", after=stateful_set(2))],
     ["stop 1 pod of StatefulSet s", RETAINED.format("1 PVC", "d-s-2")]),
    ("created for all pods of a deleted one", [*orphans(0, 1, 2), *claims(0, 1, 2)],
     [Apply(manifest=stateful_set(3), group="g", after=stateful_set(3))], []),
    ("a stopping pod", [*THREE, named("Pod", "s-2")],
     [update(stateful_set(2), stateful_set(2, "Delete"))], [DELETED.format("d-s-2")]),
    ("a PVC without a pod", THREE, [update(stateful_set(2), stateful_set(2, "Delete"))], []),
    ("PVCs of others", [DELETING_SET, *claims(1, of="t"), *claims(1, of="t-s")],
     [update(DELETING_SET, stateful_set(1, "Delete"))], ["stop 2 pods of StatefulSet s"]),
    ("a Deployment", [deployment(2), *claims(0)], [update(deployment(2), deployment(1))],
     ["stop 1 pod of Deployment s"]),
    ("a removed group", [stateful_set(2), *claims(0, 1)], [delete(stateful_set(2))],
     ["stop 2 pods of StatefulSet s", RETAINED.format("2 PVCs", "d-s-0, d-s-1")]),
    ("a removed group with its PVCs", [stateful_set(1), *claims(0)],
     [delete(stateful_set(1)), delete(claims(0)[0])], ["stop 1 pod of StatefulSet s"]),
    ("a patch", THREE, [Patch(live=DELETING_SET, after=stateful_set(0, "Delete"), patch=[])], []),
    ("an autoscaler's maximum", THREE, [update(autoscaler(5), autoscaler(2))],
     ["stop 1 pod of StatefulSet s", DELETED.format("d-s-2")]),
    ("a new autoscaler", THREE, [Apply(manifest=autoscaler(2), group="g", after=autoscaler(2))],
     ["stop 1 pod of StatefulSet s", DELETED.format("d-s-2")]),
    ("an autoscaler above the replicas", THREE, [update(autoscaler(5), autoscaler(3))], []),
    ("an autoscaler of a stopped group", [stateful_set(0, "Delete")], [update(autoscaler(5), autoscaler(2))], []),
    ("a removed autoscaler", THREE, [delete(autoscaler(5))], []),
    ("a renamed claim template", [stateful_set(2), *claims(0, 1)], [update(stateful_set(2), of_template("e"))],
     ["abandon 2 PVCs of StatefulSet s, whose claim template is removed; the data stays: d-s-0, d-s-1",
      "start with empty volumes e: 2 pods of StatefulSet s"]),
    ("a renamed claim template with a PVC", [stateful_set(2), *claims(0, 1), named(CLAIM, "e-s-1")],
     [update(stateful_set(2), of_template("e"))],
     ["abandon 2 PVCs of StatefulSet s, whose claim template is removed; the data stays: d-s-0, d-s-1",
      "start with empty volumes e: 1 pod of StatefulSet s"]),
    ("renamed in an interrupted recreation", [*with_volumes(orphans(0, 1)), *claims(0, 1)],
     [Apply(manifest=of_template("e"), group="g", after=of_template("e"))],
     ["abandon 2 PVCs of StatefulSet s, whose claim template is removed; the data stays: d-s-0, d-s-1",
      "start with empty volumes e: 2 pods of StatefulSet s"]),
    ("a group removed in an interrupted recreation", [*with_volumes(orphans(0, 1)), *claims(0, 1)],
     [delete(pod) for pod in with_volumes(orphans(0, 1))],
     ["retain 1 PVC of Pod s-0: d-s-0", "retain 1 PVC of Pod s-1: d-s-1"]),
    ("a Service", [], [delete(named("Service", "b"))], ["the name b no longer resolves (Service deleted)"]),
]  # fmt: skip


@pytest.mark.parametrize(("live", "steps", "effects"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_effects(live: list[Manifest], steps: list[Step], effects: list[str]) -> None:
    found = with_effects(steps, Observed().with_objects(live))
    assert plan_output.effect_lines(found) == effects
    assert [step.key for step in found] == [step.key for step in steps]
    deletes = any(step.operation.verb == "delete" and step.key.kind == "PersistentVolumeClaim" for step in steps)
    assert Plan(found).is_destructive == (deletes or any("destructive" in text for text in effects))


def test_destructive_step_is_marked() -> None:
    steps = with_effects([update(DELETING_SET, stateful_set(2, "Delete"))], Observed().with_objects(THREE))
    assert plan_output.lines(Plan(steps)) == [
        "update StatefulSet s (destructive)",
        "stop 1 pod of StatefulSet s",
        DELETED.format("d-s-2"),
    ]
    entry, prepared = plan_output.diff(Plan(steps))
    assert entry["destructive"] is True
    assert prepared == {"prepared": f"stop 1 pod of StatefulSet s\n{DELETED.format('d-s-2')}\n"}
    assert Plan(later=steps).is_destructive


# (live object, step, may it delete PVCs)
STEPS: dict[str, tuple[Manifest, Step, bool]] = {
    "fewer pods": (DELETING_SET, update(DELETING_SET, stateful_set(1, "Delete")), True),
    "fewer pods, retained": (stateful_set(3), update(stateful_set(3), stateful_set(1)), False),
    "a stop": (DELETING_SET, update(DELETING_SET, stateful_set(0)), False),
    "the same": (DELETING_SET, update(DELETING_SET, stateful_set(3, "Delete")), False),
    "more pods": (DELETING_SET, update(DELETING_SET, stateful_set(4, "Delete")), False),
    "a stopping pod": (named("Pod", "s-3"), update(stateful_set(3), stateful_set(3, "Delete")), True),
    "a lower maximum": (DELETING_SET, update(autoscaler(5), autoscaler(2)), True),
    "a maximum above the replicas": (DELETING_SET, update(autoscaler(5), autoscaler(3)), False),
    "a removed autoscaler": (DELETING_SET, delete(autoscaler(5)), False),
    "a removed group": (DELETING_SET, delete(DELETING_SET), True),
    "a removed Deployment": (deployment(2), delete(deployment(2)), False),
}


@pytest.mark.parametrize(("live", "step", "may_delete"), STEPS.values(), ids=STEPS)
def test_pvcs_without_labels_are_read_where_pvcs_may_be_deleted(live: Manifest, step: Step, may_delete: bool) -> None:
    observed = Observed().with_objects([live])
    assert may_delete_claims([step], observed) is may_delete
