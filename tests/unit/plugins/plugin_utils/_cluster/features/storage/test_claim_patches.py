# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Existing PVCs get what the spec has changed in their template, and nothing of others is removed."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.claim_patches import (
    ignored_updates,
    pvc_updates,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Verdict
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, orphans
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import (
    decided,
    inputs,
    with_answers,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged

Manifest = dict[str, Any]
FOREIGN = {"pv.kubernetes.io/bound-by-controller": "yes"}


def templates(size: str = "1Gi", annotations: Manifest | None = None, **spec: Any) -> Manifest:
    requests = {"resources": {"requests": {"storage": size}}, **spec}
    return {"volumeClaimTemplates": [{"metadata": {"name": "d", "annotations": annotations or {}}, "spec": requests}]}


def claim(name: str = "d-druid-c-brokers-0", size: str = "1Gi", phase: str = "Bound", **metadata: Any) -> Manifest:
    spec = {"resources": {"requests": {"storage": size}}}
    head = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": phase}}
    return {**head, "metadata": {"name": name, "namespace": "ns", "uid": name, **metadata}, "spec": spec}


GROW: Manifest = {"scalePvcSts": True}
# (live template, template of the spec, other fields of the spec, PVC, message of the step)
CASES: dict[str, tuple[Manifest, Manifest, Manifest, Manifest, str | None]] = {
    "larger": (templates(), templates("2Gi"), GROW, claim(), "expand from 1Gi to 2Gi"),
    "the template has the size already": (templates("2Gi"), templates("2Gi"), GROW, claim(), "expand from 1Gi to 2Gi"),
    "not enabled": (templates(), templates("2Gi"), {}, claim(), None),
    "grown further by others": (templates(), templates("2Gi"), GROW, claim(size="3Gi"), None),
    "the same in another notation": (templates(), templates("1024Mi"), GROW, claim(), None),
    "no volume yet": (templates(), templates("2Gi"), GROW, claim(phase="Pending"), None),
    "terminating": (templates(), templates("2Gi"), GROW, claim(deletionTimestamp="now"), None),
    "marked by the Go operator": (templates(), templates("2Gi"), GROW, claim(labels={"toBeDeleted": "yes"}), None),
    "a label that is no mark": (
        templates(),
        templates("2Gi"),
        GROW,
        claim(labels={"toBeDeleted": "no"}),
        "expand from 1Gi to 2Gi",
    ),
    "of another template": (templates(), templates("2Gi"), GROW, claim("e-druid-c-brokers-0"), None),
    "of another group": (templates(), templates("2Gi"), GROW, claim("d-druid-c-brokers-x-0"), None),
    "an annotation": (templates(), templates(annotations={"a": "b"}), {}, claim(), "set annotation a to b"),
    "an annotation that it has": (
        templates(),
        templates(annotations={"a": "b"}),
        {},
        claim(annotations={"a": "b"}),
        None,
    ),
    "disabled": (
        templates(),
        templates(annotations={"a": "b"}),
        {"disablePVCAnnotationUpdate": True},
        claim(),
        None,
    ),
    "a removed annotation": (
        templates(annotations={"a": "b"}),
        templates(),
        {},
        claim(annotations={"a": "b", **FOREIGN}),
        "remove annotation a",
    ),
    "a removed annotation that others have changed": (
        templates(annotations={"a": "b"}),
        templates(),
        {},
        claim(annotations={"a": "c"}),
        None,
    ),
    "an unchanged template": (
        templates(annotations={"a": "b"}),
        templates(annotations={"a": "b"}),
        {},
        claim(annotations={"a": "by hand"}),
        None,
    ),
    "a class": (
        templates(),
        templates(volumeAttributesClassName="fast"),
        {},
        claim(),
        "set volumeAttributesClassName to fast",
    ),
    "size and annotation": (
        templates(),
        templates("2Gi", {"a": "b"}),
        GROW,
        claim(annotations=FOREIGN),
        "expand from 1Gi to 2Gi; set annotation a to b",
    ),
}


@pytest.mark.parametrize(("before", "after", "spec", "live", "message"), CASES.values(), ids=CASES)
def test_updates(before: Manifest, after: Manifest, spec: Manifest, live: Manifest, message: str | None) -> None:
    observed = converged(render(druid.cluster(before))).with_objects([live])
    steps = pvc_updates(inputs(druid.cluster(after, **spec), observed))
    assert [step.notice.message for step in steps] == ([] if message is None else [message])
    for step in steps:
        assert step.group == "brokers"
        assert step.after is not None
        kept = {name: step.after["metadata"].get("annotations", {}).get(name) for name in FOREIGN}
        assert kept == {name: live["metadata"].get("annotations", {}).get(name) for name in FOREIGN}


FAST = templates(volumeAttributesClassName="fast")
NO_CLASS = (
    "PersistentVolumeClaim d-druid-c-brokers-0, d-druid-c-brokers-1 of group brokers: not done: set "
    "volumeAttributesClassName to fast. The API server does not store volumeAttributesClassName: enable its feature "
    "gate VolumeAttributesClass (before Kubernetes 1.34, it is off by default), or remove the field from the "
    "specification. Until then, the volumes have the attributes of their storage class"
)
NO_ANNOTATION = (
    "PersistentVolumeClaim d-druid-c-brokers-0, d-druid-c-brokers-1 of group brokers: not done: set annotation a to b. "
    "The API server, or an admission webhook, accepts the change, and does not store it"
)


@pytest.mark.parametrize(
    ("before", "after", "warning"),
    [
        (templates(), FAST, NO_CLASS),
        # The StatefulSet is recreated with a template that has the class.
        (FAST, FAST, NO_CLASS),
        (templates(), templates(annotations={"a": "b"}), NO_ANNOTATION),
    ],
    ids=["a class", "a class after the recreation", "an annotation"],
)
def test_a_change_that_the_api_server_ignores_is_a_warning(before: Manifest, after: Manifest, warning: str) -> None:
    live = [claim(), claim("d-druid-c-brokers-1")]
    observed = converged(render(druid.cluster(before))).with_objects(live)
    provided = inputs(druid.cluster(after), observed)
    steps = pvc_updates(provided)
    assert len(steps) == len(live)
    assert ignored_updates(provided) == []
    found = with_answers(provided, verdicts={step.key: Verdict(step, step.live) for step in steps})
    plan = decided(found)
    assert not {step.key for step in steps} & {step.key for step in plan.steps}
    assert [text for text in plan.warnings if "not done" in text] == ignored_updates(found) == [warning]


# (the attributes class of the PVC, its phase, further fields of the spec, whether it is set)
LATER: dict[str, tuple[str | None, str, Manifest, bool]] = {
    "none": (None, "Bound", {}, True),
    "of others": ("slow", "Bound", {}, False),
    "the same": ("fast", "Bound", {}, False),
    "without a volume": (None, "Pending", {}, False),
    "not updated": (None, "Bound", {"disablePVCAnnotationUpdate": True}, False),
}


@pytest.mark.parametrize(("name", "phase", "more", "is_set"), LATER.values(), ids=LATER)
def test_a_pvc_without_an_attributes_class_gets_that_of_its_template(
    name: str | None, phase: str, more: Manifest, is_set: bool
) -> None:
    """The feature gate was off when it was created, or when the template was changed."""
    live = claim()
    live = {**live, "status": {**live["status"], "phase": phase}}
    live["spec"] = {**live["spec"], **({"volumeAttributesClassName": name} if name else {})}
    observed = converged(render(druid.cluster(FAST, **more))).with_objects([live])
    assert bool(pvc_updates(inputs(druid.cluster(FAST, **more), observed))) == is_set


def test_a_marked_pvc_that_a_pod_mounts() -> None:
    """The Go operator has marked it, and with deleteOrphanPvc: false nothing removes its mark."""
    live = claim(labels={"toBeDeleted": "yes", "deletionTS": "1"})
    pod = {"apiVersion": "v1", **orphans.pod("druid-c-brokers-0", "d-druid-c-brokers-0")}
    observed = converged(render(druid.cluster(templates()))).with_objects([live, pod])
    [step] = pvc_updates(inputs(druid.cluster(templates("2Gi"), deleteOrphanPvc=False, **GROW), observed))
    assert step.notice is not None
    assert step.notice.message == "expand from 1Gi to 2Gi"


def test_an_interrupted_recreation_is_finished() -> None:
    """The StatefulSet is deleted, and one of two PVCs is patched, as by the Go operator."""
    found = [claim(), claim("d-druid-c-brokers-1", "2Gi")]
    observed = Observed().with_objects(found)
    [step] = pvc_updates(inputs(druid.cluster(templates("2Gi"), **GROW), observed))
    assert step.key.name == "d-druid-c-brokers-0"
    assert step.patch == [
        {"op": "test", "path": "/metadata/uid", "value": "d-druid-c-brokers-0"},
        {"op": "test", "path": "/spec/resources/requests/storage", "value": "1Gi"},
        {"op": "add", "path": "/spec/resources/requests/storage", "value": "2Gi"},
    ]
