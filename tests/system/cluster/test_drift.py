# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Changes of other clients to a cluster's objects: our fields are reverted in one reconcile, theirs are kept."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import pytest
from ansible_collections.druidops.druid.tests.system.support import full_cluster
from ansible_collections.druidops.druid.tests.system.support.full_cluster import NAME, STATEFUL, STATELESS, essence
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    without_status,
)
from testbed.control_plane import ControlPlane


class Edit(NamedTuple):
    """What a user does to an object; for our fields, the text of the event."""

    kind: str
    name: str
    change: Callable[[Manifest], Any]
    event: str = ""


def _pod(live: Manifest) -> Manifest:
    pod: Manifest = live["spec"]["template"]["spec"]
    return pod


def _main(live: Manifest) -> Manifest:
    container: Manifest = _pod(live)["containers"][0]
    return container


def _set(field: str, value: Any, at: Callable[[Manifest], Manifest]) -> Callable[[Manifest], Any]:
    return lambda live: at(live).__setitem__(field, value)


def _spec(live: Manifest) -> Manifest:
    spec: Manifest = live["spec"]
    return spec


def _metadata(field: str) -> Callable[[Manifest], Manifest]:
    return lambda live: live["metadata"].setdefault(field, {})


COMMON = f"{NAME}-druid-common-config"
OURS = {
    "number of a Service's port": Edit(
        "Service",
        STATELESS,
        lambda live: live["spec"]["ports"][0].update(port=9999),
        "spec.ports[service-port].port: 9999 -> 8082",
    ),
    "port of a Service added": Edit(
        "Service",
        STATELESS,
        lambda live: live["spec"]["ports"].append({"name": "more", "port": 9999}),
        "spec.ports[more]: ",
    ),
    "Service selects by more": Edit(
        "Service",
        STATELESS,
        lambda live: live["spec"]["selector"].update(app="other"),
        "spec.selector.app: other -> druid",
    ),
    "file changed": Edit(
        "ConfigMap",
        COMMON,
        lambda live: live["data"].update({"metricDimensions.json": "[]"}),
        "data.metricDimensions.json: [] -> {}",
    ),
    "file added": Edit("ConfigMap", COMMON, lambda live: live["data"].update(mine="x"), "data.mine: x -> (none)"),
    "file removed": Edit(
        "ConfigMap",
        COMMON,
        lambda live: live["data"].pop("metricDimensions.json"),
        "data.metricDimensions.json: (none) -> {}",
    ),
    "label removed": Edit(
        "PodDisruptionBudget",
        STATEFUL,
        lambda live: live["metadata"]["labels"].pop("app"),
        "metadata.labels.app: (none) -> druid",
    ),
    "label of the cluster removed": Edit(
        "StatefulSet",
        STATEFUL,
        lambda live: live["metadata"]["labels"].pop("druid_cr"),
        f"metadata.labels.druid_cr: (none) -> {NAME}",
    ),
    "all labels removed": Edit(
        "Ingress", STATELESS, lambda live: live["metadata"].pop("labels"), "metadata.labels: (none) -> "
    ),
    "replicas": Edit("StatefulSet", STATEFUL, _set("replicas", 3, _spec), "spec.replicas: 3 -> 0"),
    "image": Edit(
        "Deployment",
        STATELESS,
        _set("image", "apache/druid:35.0.0", _main),
        f"spec.template.spec.containers[{STATELESS}].image: apache/druid:35.0.0 -> apache/druid:34.0.0",
    ),
    "command": Edit(
        "StatefulSet",
        STATEFUL,
        _set("command", ["/mine.sh"], _main),
        f"spec.template.spec.containers[{STATEFUL}].command[0]: /mine.sh -> /druid.sh",
    ),
    "variable changed": Edit(
        "StatefulSet",
        STATEFUL,
        lambda live: _main(live)["env"][0].update(value="CET"),
        f"spec.template.spec.containers[{STATEFUL}].env[TZ].value: CET -> UTC",
    ),
    "variable removed": Edit(
        "StatefulSet",
        STATEFUL,
        lambda live: _main(live)["env"].pop(0),
        f"spec.template.spec.containers[{STATEFUL}].env[TZ]: (none) -> ",
    ),
    "probe removed": Edit(
        "StatefulSet",
        STATEFUL,
        lambda live: _main(live).pop("livenessProbe"),
        f"spec.template.spec.containers[{STATEFUL}].livenessProbe: (none) -> ",
    ),
    "mount removed": Edit(
        "StatefulSet",
        STATEFUL,
        lambda live: _main(live)["volumeMounts"].pop(),
        f"spec.template.spec.containers[{STATEFUL}].volumeMounts[data]: (none) -> ",
    ),
    "annotation removed": Edit(
        "StatefulSet",
        STATEFUL,
        lambda live: live["metadata"]["annotations"].pop("team"),
        "metadata.annotations: (none) -> {'team': 'data'}",
    ),
    "disruption budget": Edit(
        "PodDisruptionBudget", STATEFUL, _set("maxUnavailable", 0, _spec), "spec.maxUnavailable: 0 -> 1"
    ),
    "autoscaler": Edit(
        "HorizontalPodAutoscaler", STATELESS, _set("maxReplicas", 20, _spec), "spec.maxReplicas: 20 -> 9"
    ),
    "Ingress": Edit(
        "Ingress",
        STATELESS,
        lambda live: live["spec"]["rules"][0].update(host="other.example.com"),
        "spec.rules[0].host: other.example.com -> druid.example.com",
    ),
    "owner removed": Edit(
        "Service",
        f"{STATEFUL}-api",
        lambda live: live["metadata"].pop("ownerReferences"),
        "metadata.ownerReferences: (none) -> ",
    ),
}
FOREIGN = {
    "annotation": Edit("StatefulSet", STATEFUL, _set("mine", "x", _metadata("annotations"))),
    "label": Edit("Service", STATELESS, _set("mine", "x", _metadata("labels"))),
    "finalizer": Edit("Service", STATELESS, lambda live: live["metadata"].update(finalizers=["example.com/mine"])),
    "variable": Edit("StatefulSet", STATEFUL, lambda live: _main(live)["env"].append({"name": "MINE", "value": "x"})),
    "restart": Edit(
        "Deployment",
        STATELESS,
        lambda live: live["spec"]["template"]["metadata"].update(
            annotations={"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}
        ),
    ),
    "sidecar": Edit(
        "StatefulSet",
        STATEFUL,
        lambda live: _pod(live)["containers"].append({"name": "mine", "image": "example.com/x"}),
    ),
    "annotation of a disruption budget": Edit(
        "PodDisruptionBudget", STATEFUL, _set("mine", "x", _metadata("annotations"))
    ),
    "unstated field of a Service": Edit("Service", STATELESS, _set("sessionAffinity", "ClientIP", _spec)),
    "unstated field of a workload": Edit("StatefulSet", STATEFUL, _set("minReadySeconds", 1, _spec)),
}


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane) -> Iterator[NamespaceClient]:
    """A cluster that is as it should be, as each test leaves it again."""
    live = NamespaceClient(control_plane, f"drift-{secrets.token_hex(4)}")
    control_plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": live.namespace}})
    full_cluster.create(live)
    assert one_pass(live, NAME).plan.findings == ()
    assert one_pass(live, NAME).plan.steps == ()
    yield live
    control_plane.request("DELETE", f"/api/v1/namespaces/{live.namespace}")


def edited(live: NamespaceClient, edit: Edit) -> tuple[Manifest, Manifest]:
    """Change the object as a user does; return it before and after."""
    return live.edit(edit.kind, edit.name, edit.change)


def messages(live: NamespaceClient) -> list[str]:
    """Return the messages of the events of the cluster."""
    return [each["message"] for each in live.list("Event") if each["involvedObject"]["kind"] == "Druid"]


@pytest.mark.parametrize("what", OURS)
def test_drift_is_reverted(cluster: NamespaceClient, what: str) -> None:
    edit = OURS[what]
    before, after = edited(cluster, edit)
    assert essence(after) != essence(before)
    outcome = one_pass(cluster, NAME)
    assert outcome.plan.findings == ()
    assert [tuple(step.key) for step in outcome.plan.steps] == [(edit.kind, edit.name)]
    assert essence(cluster.get(edit.kind, edit.name)) == essence(before)
    head = f"Updated [{edit.name}:*v1.{edit.kind}]."
    assert any(text.startswith(head) and edit.event in text for text in messages(cluster)), messages(cluster)
    assert one_pass(cluster, NAME).plan.steps == ()


@pytest.mark.parametrize("what", FOREIGN)
def test_foreign_fields_are_kept(cluster: NamespaceClient, what: str) -> None:
    edit = FOREIGN[what]
    before, after = edited(cluster, edit)
    assert essence(after) != essence(before)
    mark = cluster.mark()
    assert one_pass(cluster, NAME).plan.steps == ()
    assert [write for write in without_status(cluster.writes(mark)) if "dry run" not in write] == []
    # Nor does it go when we write the object for another reason.
    reason = secrets.token_hex(4)
    cluster.merge("Druid", NAME, {"spec": {"image": f"apache/druid:{reason}", "podLabels": {"reason": reason}}})
    one_pass(cluster, NAME)
    later = cluster.get(edit.kind, edit.name)
    assert later["metadata"]["labels"]["reason"] == reason
    edit.change(changed := deepcopy(later))
    assert _sorted(essence(changed)) == _sorted(essence(later))
    if edit.kind == "Service":
        cluster.merge("Service", edit.name, {"metadata": {"finalizers": None}})
    cluster.merge("Druid", NAME, {"spec": {"image": full_cluster.IMAGE}})
    one_pass(cluster, NAME)


def _sorted(manifest: Manifest) -> Manifest:
    """Return the object without what was added to lists twice."""
    pod = manifest["spec"].get("template", {}).get("spec")
    for container in pod["containers"] if pod else ():
        container["env"] = _once(container.get("env", []))
    if pod:
        pod["containers"] = _once(pod["containers"])
    return manifest


def _once(elements: list[Manifest]) -> dict[str, Any]:
    return {element["name"]: element.get("value", element.get("image", "")) for element in elements}


def test_mixed_edit_reverts_only_our_fields(cluster: NamespaceClient) -> None:
    def add(live: Manifest) -> None:
        live["metadata"]["annotations"].update(team="other", mine="x")
        _main(live)["env"].append({"name": "MIXED", "value": "x"})
        _main(live)["env"][0].update(value="CET")
        _pod(live)["containers"].append({"name": "mixed", "image": "example.com/x"})

    # A later change of a user does not decide who owns the rest: not by the command, without other changes.
    for change in (add, OURS["command"].change, OURS["image"].change, OURS["all labels removed"].change):
        edited(cluster, Edit("StatefulSet", STATEFUL, change))
    one_pass(cluster, NAME)
    after = cluster.get("StatefulSet", STATEFUL)
    assert after["metadata"]["annotations"] == {"team": "data", "mine": "x"}
    assert after["metadata"]["labels"]["druid_cr"] == NAME
    variables = {each["name"]: each.get("value") for each in _main(after)["env"]}
    assert (variables["TZ"], variables["MIXED"]) == ("UTC", "x")
    assert (_main(after)["command"][0], _main(after)["image"]) == ("/druid.sh", full_cluster.IMAGE)
    assert "mixed" in {each["name"] for each in _pod(after)["containers"]}
    assert one_pass(cluster, NAME).plan.steps == ()
