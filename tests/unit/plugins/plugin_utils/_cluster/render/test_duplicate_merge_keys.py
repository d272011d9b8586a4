# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Duplicate merge keys of a pod template are removed with a warning."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render, without_duplicates
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, recording


def template(pod: dict[str, Any] | None = None, **container: Any) -> dict[str, Any]:
    return {"metadata": {"labels": {}}, "spec": {"containers": [{"name": "main", **container}], **(pod or {})}}


PLAIN = {"name": "plain", "containerPort": 1}
OURS = {"name": "druid-port", "containerPort": 1}


@pytest.mark.parametrize(
    ("field", "items", "kept"),
    [
        ("env", [{"name": "A", "value": "1"}, {"name": "B"}, {"name": "A"}], [{"name": "B"}, {"name": "A"}]),
        ("env", [{"name": "A"}, {"name": "B"}], [{"name": "A"}, {"name": "B"}]),
        ("env", [{}, {}], [{}, {}]),
        ("ports", [PLAIN, OURS], [OURS]),
        ("ports", [{**PLAIN, "protocol": "TCP"}, OURS], [OURS]),
        ("ports", [{**PLAIN, "protocol": "UDP"}, OURS], [{**PLAIN, "protocol": "UDP"}, OURS]),
        (
            "volumeMounts",
            [{"name": "a", "mountPath": "/x"}, {"name": "b", "mountPath": "/x"}],
            [{"name": "b", "mountPath": "/x"}],
        ),
    ],
)
def test_last_duplicate_of_a_container_is_kept(field: str, items: list[Any], kept: list[Any]) -> None:
    found, warnings = without_duplicates(template(None, **{field: items}))
    assert found["spec"]["containers"][0][field] == kept
    assert len(warnings) == len(items) - len(kept)


@pytest.mark.parametrize("field", ["imagePullSecrets", "volumes"])
def test_last_duplicate_of_a_pod_is_kept(field: str) -> None:
    items = [{"name": "a", "emptyDir": {}}, {"name": "b"}, {"name": "a"}]
    found, warnings = without_duplicates(template({field: items}))
    assert found["spec"][field] == [{"name": "b"}, {"name": "a"}]
    assert len(warnings) == 1


@pytest.mark.parametrize(
    ("targets", "probe", "kept"),
    [
        ([], None, OURS),
        (["plain"], None, PLAIN),
        (["druid-port"], None, OURS),
        (["plain", "druid-port"], None, OURS),
        ([], {"httpGet": {"port": "plain"}}, PLAIN),
        ([], {"tcpSocket": {"port": "plain"}}, PLAIN),
        ([], {"httpGet": {"port": 1}}, OURS),
        (["druid-port"], {"httpGet": {"port": "plain"}}, OURS),
    ],
)
def test_referenced_port_is_kept(targets: list[str], probe: Any, kept: dict[str, Any]) -> None:
    found, warnings = without_duplicates(template(ports=[PLAIN, OURS], readinessProbe=probe), targets)
    assert found["spec"]["containers"][0]["ports"] == [kept]
    assert len(warnings) == 1


def test_duplicates_of_every_container_are_removed() -> None:
    duplicates = {"env": [{"name": "A"}, {"name": "A"}]}
    pod = {"initContainers": [{"name": "i", **duplicates}]}
    found, warnings = without_duplicates(template(pod, **duplicates))
    assert found["spec"]["initContainers"][0]["env"] == [{"name": "A"}]
    assert found["spec"]["containers"][0]["env"] == [{"name": "A"}]
    assert warnings == (
        "container i: variable A is set twice; only the other entry is kept",
        "container main: variable A is set twice; only the other entry is kept",
    )


def test_port_of_a_service_is_kept() -> None:
    service = {"spec": {"ports": [{"port": 80, "targetPort": "plain"}]}}
    node = {"ports": [{"name": "plain", "containerPort": 8082}], "services": [service]}
    ports = druid.at(druid.rendered("StatefulSet", node), "spec", "template", "spec", "containers", 0, "ports")
    assert ports == [{"name": "plain", "containerPort": 8082}]


def test_workload_is_rendered_with_and_without_duplicates() -> None:
    cluster = Cluster.from_resource(recording.resource("hand"))
    desired = render(cluster)
    assert ports_of((desired.verbatim["brokers"],)) == ["plain", "druid-port"]
    assert ports_of(desired.groups["brokers"]) == ["druid-port"]
    assert [warning for warning in desired.warnings if warning.startswith("spec.nodes[brokers]")] == [
        "spec.nodes[brokers]: the pod: image pull secret p is set twice; only the other entry is kept",
        "spec.nodes[brokers]: container druid-hand-brokers: variable A is set twice; only the other entry is kept",
        "spec.nodes[brokers]: container druid-hand-brokers: port plain (8082/TCP) is set twice;"
        " only the other entry is kept",
    ]


def ports_of(objects: tuple[dict[str, Any], ...]) -> list[str]:
    [workload] = [manifest for manifest in objects if manifest["kind"] == "Deployment"]
    return [port["name"] for port in workload["spec"]["template"]["spec"]["containers"][0]["ports"]]
