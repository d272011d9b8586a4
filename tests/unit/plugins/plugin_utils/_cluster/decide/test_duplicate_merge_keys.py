# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A template that says something twice is kept as long as nothing that we state is different."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.duplicate_merge_keys import keep_duplicates
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired, render
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_set import FieldSet
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import entry, written_by

Manifest = dict[str, Any]

TWICE = {
    "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}, {"name": "B", "value": "3"}],
    "ports": [{"name": "plain", "containerPort": 8082, "protocol": "TCP"}],
}
MAIN = 'k:{"name":"druid-c-brokers"}'


def decided(observed: Observed) -> Desired:
    """Return what is desired of the group of brokers once it is known what runs."""
    return keep_duplicates(render(druid.cluster(TWICE)), observed)


def running(change: Callable[[Manifest], Any], others: list[Manifest]) -> Observed:
    """Return the Go operator's workload after somebody has changed it."""
    live = written_by("manager", render(druid.cluster(TWICE)).verbatim["brokers"])
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
WHOSE = {"kubectl-edit": "Update", "flux": "Apply", "before-first-apply": "Update"}
# What somebody else does, and what is his then.
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
    "what we state, too": (lambda _template: None, containers(MAIN, {"f:image": {}})),
}
CHANGES: dict[str, tuple[Callable[[Manifest], Any], FieldSet]] = {
    "another image": (lambda found: main(found).update(image="x"), containers(MAIN, {"f:image": {}})),
    "a variable less": (lambda found: main(found)["env"].pop(2), {}),
    "a variable once": (lambda found: main(found)["env"].pop(0), {}),
    "the other one of two": (
        lambda found: main(found)["env"][1].update(value="x"),
        containers(MAIN, {"f:env": {'k:{"name":"A"}': {}}}),
    ),
    "no mount": (lambda found: main(found)["volumeMounts"].pop(), {}),
}


@pytest.mark.parametrize("manager", WHOSE)
@pytest.mark.parametrize("addition", ADDITIONS)
def test_additions_of_others_are_no_difference(addition: str, manager: str) -> None:
    change, fields = ADDITIONS[addition]
    desired = decided(running(change, [entry(manager, fields, WHOSE[manager])]))
    [workload] = [each for each in desired.groups["brokers"] if each["kind"] == "StatefulSet"]
    assert "template" not in workload["spec"]
    assert [each["kind"] for each in desired.verbatim.values()] == ["StatefulSet"]
    assert desired.warnings == ()


@pytest.mark.parametrize("manager", WHOSE)
@pytest.mark.parametrize("difference", CHANGES)
def test_what_we_state_is_put_right_without_duplicates(difference: str, manager: str) -> None:
    change, fields = CHANGES[difference]
    desired = decided(running(change, [entry(manager, fields, WHOSE[manager])]))
    [workload] = [each for each in desired.groups["brokers"] if each["kind"] == "StatefulSet"]
    variables = [each["name"] for each in main(workload["spec"]["template"])["env"]]
    assert variables == ["A", "B", "configMapSHA"]
    assert len(desired.warnings) == 2


def test_what_the_user_has_taken_out_is_a_difference() -> None:
    def change(found: Manifest) -> None:
        main(found)["env"].append({"name": "X", "value": "y"})

    fields = containers(MAIN, {"f:env": {'k:{"name":"X"}': ADDED}})
    assert decided(running(change, [entry("manager", fields, "Update")])).verbatim == {}


def test_nobody_is_known_to_have_written_it() -> None:
    """The server has filled in what only one of two ports says."""
    observed = running(lambda found: [port.update(protocol="TCP") for port in main(found)["ports"]], [])
    [live] = observed.objects.values()
    live["metadata"]["managedFields"] = []
    assert [each["kind"] for each in decided(observed).verbatim.values()] == ["StatefulSet"]
