# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A plan as text: lines, diffs, effects, and why pods restart."""

from __future__ import annotations

import difflib
from copy import deepcopy
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.finalizer import ChangeFinalizer
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan, Waits
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan_output import restart_causes
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.evictions import Evict
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.recreate import Recreate
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Eviction, Restart, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils._values.test_nested_json import nested
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored

Manifest = dict[str, Any]


def config_map(**data: str) -> Manifest:
    metadata = {"name": "n", "namespace": "ns"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def update(before: Manifest, after: Manifest, group: str | None = "brokers") -> Step:
    return Apply(manifest=after, group=group, live=stored(before), after=stored(after))


def restart_of(name: str, group: str, replicas: int | None, replicas_before: int | None = None, **spec: Any) -> Step:
    before = druid.rendered("StatefulSet", {"replicas": replicas if replicas_before is None else replicas_before})
    before["metadata"]["name"] = name
    after = deepcopy(before)
    after["spec"]["template"]["spec"]["containers"][0]["image"] = "new"
    after["spec"]["replicas"] = replicas
    if replicas is None:
        after["spec"].pop("replicas")
        before["spec"].pop("replicas", None)
    after["spec"] |= spec
    return update(before, after, group)


def strategy(kind: str, **parameters: int) -> Manifest:
    return {"updateStrategy": {"type": kind, "rollingUpdate": parameters}}


# Why the pods restart.
CAUSE = ": spec.containers[druid-c-brokers].image: apache/druid:37.0.0 -> new"
PLAN = Plan(
    (
        Apply(manifest=config_map(a="1")),
        restart_of("second", "b", 1),
        restart_of("first", "a", 3),
        restart_of("third", "c", None),
        Recreate(manifest=druid.rendered("StatefulSet"), group="d", live=stored(druid.rendered("StatefulSet"))),
        Delete(live=stored(config_map())),
        ChangeFinalizer(live=druid.resource(), after=druid.resource(), patch=[]),
    ),
    (Finding("R", "It is invalid."), Finding("Paused", "Requested by the user.", is_problem=False)),
)


def test_lines() -> None:
    assert plan_output.lines(PLAN) == [
        "create ConfigMap n",
        "update StatefulSet second",
        "update StatefulSet first",
        "update StatefulSet third",
        "recreate StatefulSet druid-c-brokers (immutable field; pods keep running)",
        "delete ConfigMap n",
        "update Druid c (finalizer)",
        f"restart 1: group b (StatefulSet second), 1 pod{CAUSE}",
        f"restart 2: group a (StatefulSet first), 3 pods{CAUSE}",
        f"restart 3: group c (StatefulSet third), 1 pod{CAUSE}",
        "blocked: It is invalid.",
    ]


def test_steps_that_wait_are_marked_and_their_restarts_follow() -> None:
    plan = Plan((restart_of("s", "g", 1),), later=(restart_of("t", "h", 2),))
    assert plan_output.lines(plan) == [
        "update StatefulSet s",
        "later: update StatefulSet t",
        f"restart 1: group g (StatefulSet s), 1 pod{CAUSE}",
        f"restart 2: group h (StatefulSet t), 2 pods{CAUSE}",
    ]
    assert [each.get("before_header") for each in plan_output.diff(plan)] == [
        "StatefulSet ns/s",
        "StatefulSet ns/t (later)",
        None,
    ]


IN_DRUID = druid.in_druid({"a": 1, "password": "one"}, {"a": 2, "password": "two"})


def test_changes_in_druid_are_listed_with_the_other_steps() -> None:
    plan = Plan((restart_of("s", "g", 1), IN_DRUID), (Finding("R", "It is invalid."),))
    assert plan_output.lines(plan)[1:] == [
        "update dynamic configuration of the Coordinator in Druid",
        f"restart 1: group g (StatefulSet s), 1 pod{CAUSE}",
        "blocked: It is invalid.",
    ]
    assert plan_output.diff(plan)[1] == plan_output.diff(Plan((IN_DRUID,)))[0]
    assert "prepared" in plan_output.diff(plan)[2]


def test_diff_of_druid_masks_secrets_and_marks_changed_ones() -> None:
    [entry] = plan_output.diff(Plan((IN_DRUID,)))
    assert (entry["before_header"], entry["after_header"]) == ("dynamic configuration of the Coordinator",) * 2
    assert ("a: 1" in entry["before"], "a: 2" in entry["after"]) == (True, True)
    assert "one" not in entry["before"]
    assert "two" not in entry["after"]
    assert entry["before"].replace("a: 1", "a: 2") != entry["after"]


# (step, lines about its pods)
RESTARTS: list[tuple[Step, list[str]]] = [
    (restart_of("s", "g", 2), [f"restart 1: group g (StatefulSet s), 2 pods{CAUSE}"]),
    (restart_of("s", "g", 0), []),
    (restart_of("s", "g", 0, 2), []),
    (restart_of("s", "g", 2, 0), []),
    (restart_of("s", "g", 2, 1), [f"restart 1: group g (StatefulSet s), 1 pod{CAUSE}"]),
    (
        restart_of("s", "g", 3, **strategy("RollingUpdate", partition=1)),
        [f"restart 1: group g (StatefulSet s), 2 pods{CAUSE}"],
    ),
    (restart_of("s", "g", 3, **strategy("RollingUpdate", partition=3)), []),
    (
        restart_of("s", "g", 3, **strategy("OnDelete")),
        ["no restart until the pods are deleted (OnDelete): group g (StatefulSet s), 3 pods"],
    ),
    (restart_of("s", "g", 0, **strategy("OnDelete")), []),
]


@pytest.mark.parametrize(("step", "lines"), RESTARTS)
def test_restart_lines(step: Step, lines: list[str]) -> None:
    assert plan_output.restart_lines([step]) == lines


def test_automatic_restarts_are_numbered() -> None:
    on_delete = restart_of("a", "a", 1, **strategy("OnDelete"))
    assert plan_output.restart_lines([on_delete, restart_of("b", "b", 1), on_delete, restart_of("c", "c", 1)]) == [
        f"restart 1: group b (StatefulSet b), 1 pod{CAUSE}",
        f"restart 2: group c (StatefulSet c), 1 pod{CAUSE}",
        "no restart until the pods are deleted (OnDelete): group a (StatefulSet a), 1 pod",
        "no restart until the pods are deleted (OnDelete): group a (StatefulSet a), 1 pod",
    ]


def test_a_restart_of_several_steps_is_one() -> None:
    """As in a wait: each pod that is drained, or evicted, is a step of its own."""
    drained = [restart_of("a", "a", 1), restart_of("b", "b", 2), restart_of("a", "a", 1)]
    assert plan_output.restart_lines(drained) == [
        f"restart 1: group a (StatefulSet a), 2 pods{CAUSE}",
        f"restart 2: group b (StatefulSet b), 2 pods{CAUSE}",
    ]
    workload = ObjectKey("StatefulSet", "a")
    evicted = [
        Evict(group="a", live=pod, restart=Restart(left, eviction=Eviction(workload, "it has no volume")))
        for left, pod in ((left, {"kind": "Pod", "metadata": {"name": f"a-{left}"}}) for left in (3, 2, 1))
    ]
    assert plan_output.restart_lines(evicted) == ["restart 1: group a (StatefulSet a), 3 pods: it has no volume"]


@pytest.mark.parametrize("levels", [250, 450, 900, 5000])
def test_finalizer_of_a_deeply_nested_resource(levels: int) -> None:
    live, after = druid.resource(), druid.resource()
    for each in (live, after):
        each["spec"]["deep"] = nested(levels)
    after["metadata"]["finalizers"] = ["a"]
    [entry] = plan_output.diff(Plan((ChangeFinalizer(live=live, after=after, patch=[]),)))
    shown = difflib.ndiff(entry["before"].splitlines(), entry["after"].splitlines())
    assert [line for line in shown if line[0] in "+-?"] == ["+   finalizers:", "+   - a"]


def test_empty_plan() -> None:
    assert plan_output.lines(Plan()) == []
    assert plan_output.diff(Plan()) == []


NO_RESTARTS = [
    ("replicas", update(druid.rendered("StatefulSet"), druid.rendered("StatefulSet", {"replicas": 5}))),
    ("a ConfigMap", update(config_map(a="1"), config_map(a="2"))),
    ("a new workload", Apply(manifest=druid.rendered("StatefulSet"), group="brokers")),
    (
        "no dry run yet",
        Apply(manifest=druid.rendered("StatefulSet"), group="brokers", live=stored(druid.rendered("StatefulSet"))),
    ),
    ("a deletion", Delete(group="brokers", live=stored(druid.rendered("StatefulSet")))),
]


@pytest.mark.parametrize("step", [step for _name, step in NO_RESTARTS], ids=[name for name, _step in NO_RESTARTS])
def test_steps_without_a_restart(step: Step) -> None:
    assert plan_output.restart_lines([step]) == []


def test_diff_has_an_entry_per_object_and_one_for_the_restarts() -> None:
    entries = plan_output.diff(PLAN)
    assert [(entry.get("before_header"), entry.get("after_header")) for entry in entries] == [
        ("ConfigMap ns/n (absent)", "ConfigMap ns/n"),
        ("StatefulSet ns/second", "StatefulSet ns/second"),
        ("StatefulSet ns/first", "StatefulSet ns/first"),
        ("StatefulSet ns/third", "StatefulSet ns/third"),
        ("StatefulSet ns/druid-c-brokers", "StatefulSet ns/druid-c-brokers (absent)"),
        ("ConfigMap ns/n", "ConfigMap ns/n (absent)"),
        ("Druid ns/c", "Druid ns/c"),
        (None, None),
    ]
    assert entries[0]["before"] == ""
    assert entries[5]["after"] == ""
    assert entries[-1] == {"prepared": "\n".join(plan_output.restart_lines(PLAN.steps)) + "\n"}


def test_diff_omits_the_fields_of_the_server() -> None:
    live, after = stored(druid.rendered("StatefulSet")), stored(druid.rendered("StatefulSet", {"replicas": 5}))
    live["status"], after["status"] = {"replicas": 1}, {"replicas": 2}
    after["metadata"] |= {"resourceVersion": "9", "generation": 9}
    [entry] = plan_output.diff(Plan((Apply(manifest=after, group="brokers", live=live, after=after),)))
    assert changed_lines(entry) == ["-  replicas: 1", "+  replicas: 5"]
    shown = yaml.safe_load(entry["after"])
    assert set(shown["metadata"]) == {"labels", "name", "namespace", "ownerReferences"}
    assert "uid" not in shown["metadata"]["ownerReferences"][0]


def test_new_object_is_shown_as_specified() -> None:
    step = Apply(manifest=config_map(a="1"), after={**stored(config_map(a="1")), "filled": "in"})
    assert yaml.safe_load(plan_output.diff(Plan((step,)))[0]["after"]) == config_map(a="1")


def changed_lines(entry: dict[str, str]) -> list[str]:
    lines = difflib.unified_diff(entry["before"].splitlines(), entry["after"].splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


READABLE = [
    ("a=1\nb=2\n", "a=1\nb=3\n", ["-    b=2", "+    b=3"]),
    ("a=1\nb=2", "a=1\nb=3", ["-    b=2", "+    b=3"]),
    ("a=1  \n\tb=2\n", "a=1  \n\tb=3\n", ["-    \tb=2", "+    \tb=3"]),
    ("# ä \U0001f600\nb: 2\n", "# ä \U0001f600\nb: 3\n", ["-    b: 2", "+    b: 3"]),
    ("\n\nb=2\n", "\n\nb=3\n", ["-    b=2", "+    b=3"]),
    ("  a\nb=2\n", "  a\nb=3\n", ["-    b=2", "+    b=3"]),
]


@pytest.mark.parametrize(("before", "after", "lines"), READABLE)
def test_diff_shows_the_changed_line(before: str, after: str, lines: list[str]) -> None:
    [entry] = plan_output.diff(Plan((update(config_map(file=before), config_map(file=after)),)))
    assert changed_lines(entry) == lines


@pytest.mark.parametrize(
    "text",
    ["\x1b[31mred\nb", "a\x07\nb", "a\u2028\nb", "a\rb\nc", "\u202eabc\nd", "\u200bx\ny", "\u202eabc", "\U000e0001x"],
)
def test_terminal_control_characters_are_escaped(text: str) -> None:
    [entry] = plan_output.diff(Plan((Apply(manifest=config_map(file=text)),)))
    assert all(character.isprintable() or character == "\n" for character in entry["after"])
    assert yaml.safe_load(entry["after"])["data"]["file"] == text


TEMPLATES = ["{{ lookup('pipe', 'id') }}", "{% raw %}", "!unsafe x", "&a *a", "true", "0123", "null", "2026-01-01"]


@pytest.mark.parametrize("text", TEMPLATES)
def test_strings_are_quoted(text: str) -> None:
    [entry] = plan_output.diff(Plan((Apply(manifest=config_map(file=text)),)))
    assert yaml.safe_load(entry["after"])["data"]["file"] == text


def test_no_yaml_aliases() -> None:
    shared = {"a": "1"}
    manifest = {**config_map(), "first": shared, "second": shared}
    assert "&" not in plan_output.diff(Plan((Apply(manifest=manifest),)))[0]["after"]


def test_secrets_are_masked_and_changed_ones_are_marked() -> None:
    step = update(config_map(file="a=1\nx.password=hunter2\n"), config_map(file="a=1\nx.password=hunter3\n"))
    [entry] = plan_output.diff(Plan((step,)))
    assert "hunter" not in repr(entry)
    assert changed_lines(entry) == ["-    x.password=********", "+    x.password=******** (changed)"]


def test_what_the_next_group_waits_for_in_druid_is_shown() -> None:
    plan = Plan(waits=Waits("there is no leader of the Overlords"))
    assert plan_output.lines(plan) == ["waits for Druid: there is no leader of the Overlords"]
    assert plan_output.diff(plan) == [{"prepared": "waits for Druid: there is no leader of the Overlords\n"}]


COMMON = "ConfigMap c-druid-common-config (common.runtime.properties)"
NODE = "ConfigMap druid-c-brokers-config (runtime.properties)"
CHANGED = {"brokers": {"runtime.properties": "druid.service=other"}}
SECRET = {"brokers": {"env": [{"name": "druid_metadata_storage_connector_password", "value": "hush"}]}}
# (id, desired cluster, causes of the restart of the brokers)
TABLE: list[tuple[str, Cluster, list[str]]] = [
    ("an image", rolling.cluster(rolling.NEW),
     [f"image: {rolling.OLD} -> {rolling.NEW}"]),
    ("the common configuration", rolling.cluster(**{"common.runtime.properties": "c=d"}), [COMMON]),
    ("the configuration of the group", rolling.cluster(nodes=CHANGED), [NODE]),
    ("both", rolling.cluster(nodes=CHANGED, **{"common.runtime.properties": "c=d"}), [COMMON, NODE]),
    ("another file", rolling.cluster(nodes={"brokers": {"extra.jvm.options": "-Xmx1g"}}),
     ["ConfigMap druid-c-brokers-config (jvm.config)"]),
]  # fmt: skip


def causes(desired: Cluster, live: Any = None) -> list[str]:
    found = restart_causes(rolling.steps(desired, live or rolling.observed(rolling.cluster())))
    return list(next(texts for key, texts in found.items() if key.name == "druid-c-brokers"))


@pytest.mark.parametrize(("desired", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_causes(desired: Cluster, expected: list[str]) -> None:
    assert causes(desired) == expected


def test_a_config_map_that_has_been_written_is_named() -> None:
    desired = rolling.cluster(**{"common.runtime.properties": "c=d"})
    before, after = rolling.observed(rolling.cluster()), rolling.observed(desired)
    live = before.with_objects(each for each in after.of_kind("ConfigMap") if "common" in each["metadata"]["name"])
    assert causes(desired, live) == ["ConfigMap c-druid-common-config"]


def test_secrets_are_masked() -> None:
    [cause] = causes(rolling.cluster(nodes=SECRET))
    assert "hush" not in cause
