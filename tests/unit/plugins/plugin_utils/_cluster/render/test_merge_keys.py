# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lists with merge keys in a pod template: merged strategically, and without duplicates."""

from __future__ import annotations

import copy
import random
import re
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render, without_duplicates
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.merge_keys import (
    merge_key,
    strategic_merge,
    without_duplicate_variables,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, recording
from hypothesis import given
from hypothesis import strategies as st

CASES: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("adds", {"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
    ("replaces", {"a": 1}, {"a": 2}, {"a": 2}),
    ("merges nested mappings", {"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, {"a": {"b": 1, "c": 3}}),
    ("ignores null", {"a": 1, "b": 2}, {"a": None}, {"a": 1, "b": 2}),
    ("ignores nested null", {"a": {"b": 1, "c": 2}}, {"a": {"b": None}}, {"a": {"b": 1, "c": 2}}),
    ("ignores null of a missing field", {}, {"a": {"b": None}}, {"a": {}}),
    ("replaces another type", {"a": [1]}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ("replaces plain lists", {"command": ["a", "b"]}, {"command": ["c"]}, {"command": ["c"]}),
    ("empties plain lists", {"tolerations": [{"key": "a"}]}, {"tolerations": []}, {"tolerations": []}),
    (
        "merges elements by name",
        {"containers": [{"name": "a", "image": "i"}, {"name": "b"}]},
        {"containers": [{"name": "b", "image": "j"}, {"name": "c"}]},
        {"containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "j"}, {"name": "c"}]},
    ),
    ("keeps elements with a merge key", {"env": [{"name": "A"}]}, {"env": []}, {"env": [{"name": "A"}]}),
    (
        "merges with the last duplicate",
        {"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]},
        {"env": [{"name": "A", "value": "3"}]},
        {"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "3"}]},
    ),
    (
        "merges mounts by path",
        {"volumeMounts": [{"name": "v", "mountPath": "/a"}]},
        {"volumeMounts": [{"name": "w", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}]},
        {"volumeMounts": [{"name": "w", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}]},
    ),
    (
        "merges ports by number and protocol",
        {"ports": [{"name": "a", "containerPort": 1}]},
        {"ports": [{"name": "b", "containerPort": 1, "protocol": "TCP"}, {"containerPort": 1, "protocol": "UDP"}]},
        {
            "ports": [
                {"name": "b", "containerPort": 1, "protocol": "TCP"},
                {"containerPort": 1, "protocol": "UDP"},
            ]
        },
    ),
    (
        "merges host aliases by address",
        {"hostAliases": [{"ip": "192.0.2.1", "hostnames": ["a"]}]},
        {"hostAliases": [{"ip": "192.0.2.1", "hostnames": ["b"]}]},
        {"hostAliases": [{"ip": "192.0.2.1", "hostnames": ["b"]}]},
    ),
    (
        "merges spread constraints by both keys",
        {"topologySpreadConstraints": [{"topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}]},
        {
            "topologySpreadConstraints": [
                {"topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 2},
                {"topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 3},
            ]
        },
        {
            "topologySpreadConstraints": [
                {"topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 2},
                {"topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 3},
            ]
        },
    ),
    (
        "replaces the source of a volume",
        {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {}}]},
        {"volumes": [{"name": "b", "hostPath": {"path": "/x"}}]},
        {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "hostPath": {"path": "/x"}}]},
    ),
    (
        "merges the same source of a volume",
        {"volumes": [{"name": "a", "emptyDir": {"sizeLimit": "1Gi"}}]},
        {"volumes": [{"name": "a", "emptyDir": {"medium": "Memory"}}]},
        {"volumes": [{"name": "a", "emptyDir": {"sizeLimit": "1Gi", "medium": "Memory"}}]},
    ),
    (
        "ignores a null source of a volume",
        {"volumes": [{"name": "a", "emptyDir": {}}]},
        {"volumes": [{"name": "a", "emptyDir": None, "hostPath": {"path": "/x"}}]},
        {"volumes": [{"name": "a", "hostPath": {"path": "/x"}}]},
    ),
    (
        "keeps a volume without a new source",
        {"volumes": [{"name": "a", "emptyDir": {}}]},
        {"volumes": [{"name": "a"}]},
        {"volumes": [{"name": "a", "emptyDir": {}}]},
    ),
    (
        "keeps a volume with a null source",
        {"volumes": [{"name": "a", "emptyDir": {}}]},
        {"volumes": [{"name": "a", "hostPath": None}]},
        {"volumes": [{"name": "a", "emptyDir": {}}]},
    ),
    (
        "replaces the source of a resource claim",
        {"resourceClaims": [{"name": "a", "resourceClaimName": "b"}]},
        {"resourceClaims": [{"name": "a", "resourceClaimTemplateName": "c"}]},
        {"resourceClaims": [{"name": "a", "resourceClaimTemplateName": "c"}]},
    ),
    (
        "keeps other fields of a container",
        {"containers": [{"name": "a", "image": "i", "command": ["c"]}]},
        {"containers": [{"name": "a", "image": "j"}]},
        {"containers": [{"name": "a", "image": "j", "command": ["c"]}]},
    ),
    ("replaces a list with an item that has no key", {"env": [{"name": "A"}]}, {"env": [{}]}, {"env": [{}]}),
]


@pytest.mark.parametrize(("base", "change", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_merge(base: dict[str, Any], change: dict[str, Any], expected: dict[str, Any]) -> None:
    assert strategic_merge(base, change) == expected


@pytest.mark.parametrize(
    ("field", "item", "key"),
    [
        ("env", {"name": "A"}, ("A",)),
        ("imagePullSecrets", {"name": "A"}, ("A",)),
        ("resourceClaims", {"name": "A"}, ("A",)),
        ("volumes", {"name": "A"}, ("A",)),
        ("initContainers", {"name": "A"}, ("A",)),
        ("volumeDevices", {"devicePath": "/dev/a"}, ("/dev/a",)),
        ("ports", {"containerPort": 1}, (1, "TCP")),
        ("env", {}, None),
        ("env", "text", None),
        ("tolerations", {"key": "a"}, None),
    ],
)
def test_merge_keys(field: str, item: Any, key: tuple[Any, ...] | None) -> None:
    assert merge_key(field, item) == key


def named(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(st.fixed_dictionaries({"name": st.sampled_from("ab")}, optional={"value": values}), max_size=4)


plain = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "x"])
trees = st.recursive(
    plain,
    lambda values: (
        st.lists(values, max_size=2)
        | named(values)
        | st.dictionaries(st.sampled_from(["a", "env", "containers", "command", "volumes"]), values, max_size=3)
    ),
    max_leaves=12,
)
templates = st.dictionaries(st.sampled_from(["a", "env", "containers", "command", "volumes"]), trees, max_size=4)


@given(templates)
def test_empty_patch_changes_nothing(base: dict[str, Any]) -> None:
    assert strategic_merge(base, {}) == base


@given(templates, templates)
def test_merge_is_idempotent(base: dict[str, Any], change: dict[str, Any]) -> None:
    once = strategic_merge(base, change)
    assert strategic_merge(once, change) == once


@given(templates, templates)
def test_arguments_are_not_changed(base: dict[str, Any], change: dict[str, Any]) -> None:
    before = copy.deepcopy((base, change))
    strategic_merge(base, change)
    assert (base, change) == before


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
    assert desired.duplicates["brokers"] == (
        "the pod: image pull secret p is set twice; only the other entry is kept",
        "container druid-hand-brokers: variable A is set twice; only the other entry is kept",
        "container druid-hand-brokers: port plain (8082/TCP) is set twice; only the other entry is kept",
    )


def ports_of(objects: tuple[dict[str, Any], ...]) -> list[str]:
    [workload] = [manifest for manifest in objects if manifest["kind"] == "Deployment"]
    return [port["name"] for port in workload["spec"]["template"]["spec"]["containers"][0]["ports"]]


def env(*pairs: str) -> list[dict[str, Any]]:
    """Return variables from strings such as A=1."""
    return [dict(zip(("name", "value"), pair.split("=", 1), strict=True)) for pair in pairs]


def values(items: list[dict[str, Any]]) -> dict[str, str]:
    """Return the variables of a process as the kubelet computes them: in order, from the earlier ones."""
    result: dict[str, str] = {}

    def expanded(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        return result.get(match[1], match[0])

    for item in items:
        result[item["name"]] = re.sub(r"\$\$|\$\(([^)]*)\)", expanded, item["value"])
    return result


FROM_SECRET = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
# (variables, kept variables, number of messages)
TABLE: list[tuple[list[Any], list[Any], int]] = [
    (env("A=1", "B=$(A)", "A=2"), env("EARLIER_0_A=1", "B=$(EARLIER_0_A)", "A=2"), 1),
    (env("A=1", "A=$(A):2"), env("EARLIER_0_A=1", "A=$(EARLIER_0_A):2"), 1),
    (env("A=1", "A=2", "B=$(A)"), env("A=2", "B=$(A)"), 1),
    (env("A=1", "B=$$(A)", "A=2"), env("B=$$(A)", "A=2"), 1),
    (env("A=1", "B=$$$(A)", "A=2"), env("EARLIER_0_A=1", "B=$$$(EARLIER_0_A)", "A=2"), 1),
    (env("A=1", "A=$(A):2", "A=3"), env("A=3"), 2),
    (env("A=1", "A=$(A):2", "B=$(A)", "A=3"),
     env("EARLIER_0_A=1", "EARLIER_1_A=$(EARLIER_0_A):2", "B=$(EARLIER_1_A)", "A=3"), 2),
    ([FROM_SECRET, *env("B=$(A)", "A=2")],
     [{**FROM_SECRET, "name": "EARLIER_0_A"}, *env("B=$(EARLIER_0_A)", "A=2")], 1),
    (env("B=$(A)", "A=1"), env("B=$(A)", "A=1"), 0),
    (env("A=1", "B=$(C)", "A=2"), env("B=$(C)", "A=2"), 1),
    ([{"name": "A"}, {"name": "B"}, {"name": "A"}], [{"name": "B"}, {"name": "A"}], 1),
    ([{}, {}], [{}, {}], 0),
]  # fmt: skip


@pytest.mark.parametrize(("items", "kept", "number"), TABLE)
def test_one_entry_per_name(items: list[Any], kept: list[Any], number: int) -> None:
    found, messages = without_duplicate_variables(items)
    assert found == kept
    assert len(messages) == number


def test_message_names_the_kept_variable() -> None:
    assert without_duplicate_variables(env("A=1", "B=$(A)", "A=2"))[1] == [
        "variable A is set twice; the earlier value, which other variables refer to, is kept as EARLIER_0_A"
    ]


def test_messages_count_the_entries() -> None:
    assert without_duplicate_variables(env("A=1", "A=2"))[1] == [
        "variable A is set twice; only the other entry is kept"
    ]
    assert without_duplicate_variables(env("A=1", "B=$(A)", "A=2", "A=3"))[1] == [
        "variable A is set 3 times; the earlier value, which other variables refer to, is kept as EARLIER_0_A",
        "variable A is set 3 times; only the last entry is kept under this name",
    ]


def test_every_variable_keeps_its_value() -> None:
    chance = random.Random(17)
    for _case in range(2000):
        names = [chance.choice("ABC") for _each in range(chance.randint(1, 7))]
        items = [
            {"name": name, "value": "".join(chance.choices(["$(A)", "$(B)", "$$", "$", "(C)", f"{number}"], k=3))}
            for number, name in enumerate(names)
        ]
        found, _messages = without_duplicate_variables(items)
        kept = [each["name"] for each in found]
        assert len(kept) == len({*kept})
        after = {name: value for name, value in values(found).items() if not name.startswith("EARLIER_")}
        assert after == values(items)
