# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A template with duplicate merge keys is kept as long as none of our fields differs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import keep_duplicates
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired, render
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import FieldSet
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import decided, inputs
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import entry, written_by

Manifest = dict[str, Any]

DUPLICATES = {
    "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}, {"name": "B", "value": "3"}],
    "ports": [{"name": "plain", "containerPort": 8082, "protocol": "TCP"}],
}
MAIN = 'k:{"name":"druid-c-brokers"}'


def desired_for(observed: Observed) -> Desired:
    """Return the desired state of the group of brokers for the observed objects."""
    return keep_duplicates(render(druid.cluster(DUPLICATES)), observed)


def running(change: Callable[[Manifest], Any], others: list[Manifest]) -> Observed:
    """Return the Go operator's workload after another client has changed it."""
    live = written_by("manager", render(druid.cluster(DUPLICATES)).verbatim["brokers"])
    change(live["spec"]["template"])
    live["metadata"]["managedFields"] += others
    return Observed().with_objects([live])


def template(**fields: FieldSet) -> FieldSet:
    return {"f:spec": {"f:template": {f"f:{name}": value for name, value in fields.items()}}}


def containers(step: str, fields: FieldSet) -> FieldSet:
    return template(spec={"f:containers": {step: fields}})


def main(pod_template: Manifest) -> Manifest:
    found: Manifest = pod_template["spec"]["containers"][0]
    return found


RESTARTED = {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}
ADDED = {".": {}, "f:name": {}, "f:value": {}}
OPERATIONS = {"kubectl-edit": "Update", "flux": "Apply", "before-first-apply": "Update"}
# Changes of another client, and the fields that it owns afterwards.
ADDITIONS: dict[str, tuple[Callable[[Manifest], Any], FieldSet]] = {
    "nothing": (lambda _template: None, {}),
    "the time of a restart": (
        lambda found: found["metadata"].update(annotations=RESTARTED),
        template(metadata={"f:annotations": {".": {}, "f:kubectl.kubernetes.io/restartedAt": {}}}),
    ),
    "a sidecar": (
        lambda found: found["spec"]["containers"].append({"name": "x", "image": "y"}),
        containers('k:{"name":"x"}', {".": {}, "f:name": {}, "f:image": {}}),
    ),
    "a variable": (
        lambda found: main(found)["env"].append({"name": "X", "value": "y"}),
        containers(MAIN, {"f:env": {'k:{"name":"X"}': ADDED}}),
    ),
    "a field of a container": (
        lambda found: main(found).update(stdin=True),
        containers(MAIN, {"f:stdin": {}}),
    ),
    "one of our fields": (lambda _template: None, containers(MAIN, {"f:image": {}})),
}
CHANGES: dict[str, tuple[Callable[[Manifest], Any], FieldSet]] = {
    "another image": (lambda found: main(found).update(image="x"), containers(MAIN, {"f:image": {}})),
    "a removed variable": (lambda found: main(found)["env"].pop(2), {}),
    "a removed duplicate": (lambda found: main(found)["env"].pop(0), {}),
    "a changed duplicate": (
        lambda found: main(found)["env"][1].update(value="x"),
        containers(MAIN, {"f:env": {'k:{"name":"A"}': {}}}),
    ),
    "a removed mount": (lambda found: main(found)["volumeMounts"].pop(), {}),
}


@pytest.mark.parametrize("manager", OPERATIONS)
@pytest.mark.parametrize("addition", ADDITIONS)
def test_foreign_additions_are_not_a_difference(addition: str, manager: str) -> None:
    change, fields = ADDITIONS[addition]
    desired = desired_for(running(change, [entry(manager, fields, OPERATIONS[manager])]))
    [workload] = [each for each in desired.groups["brokers"] if each["kind"] == "StatefulSet"]
    assert "template" not in workload["spec"]
    assert [each["kind"] for each in desired.verbatim.values()] == ["StatefulSet"]
    assert desired.duplicates == {}


@pytest.mark.parametrize("manager", OPERATIONS)
@pytest.mark.parametrize("difference", CHANGES)
def test_changed_template_is_reverted_without_duplicates(difference: str, manager: str) -> None:
    change, fields = CHANGES[difference]
    desired = desired_for(running(change, [entry(manager, fields, OPERATIONS[manager])]))
    [workload] = [each for each in desired.groups["brokers"] if each["kind"] == "StatefulSet"]
    variables = [each["name"] for each in main(workload["spec"]["template"])["env"]]
    assert variables == ["A", "B", "configMapSHA"]
    assert len(desired.duplicates["brokers"]) == 2


def test_variable_that_the_user_removed_is_a_difference() -> None:
    def change(found: Manifest) -> None:
        main(found)["env"].append({"name": "X", "value": "y"})

    fields = containers(MAIN, {"f:env": {'k:{"name":"X"}': ADDED}})
    assert desired_for(running(change, [entry("manager", fields, "Update")])).verbatim == {}


def test_object_without_managed_fields() -> None:
    """The server has defaulted a field that only one of two ports specifies."""
    observed = running(lambda found: [port.update(protocol="TCP") for port in main(found)["ports"]], [])
    [live] = observed.objects.values()
    live["metadata"]["managedFields"] = []
    assert [each["kind"] for each in desired_for(observed).verbatim.values()] == ["StatefulSet"]


def test_a_group_that_runs_duplicates_has_its_other_warnings() -> None:
    node = {**DUPLICATES, "workloadAnnotations": {names.REPLICAS_BEFORE_STOP_ANNOTATION: "7"}}
    warnings = decided(inputs(druid.cluster(node), running(lambda _template: None, []))).warnings
    assert [text.split(" has no effect")[0] for text in warnings] == [
        "spec.nodes[brokers]: workloadAnnotations[druid.apache.org/replicas-before-stop]"
    ]
