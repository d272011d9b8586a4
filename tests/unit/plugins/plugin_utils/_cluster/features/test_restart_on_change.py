# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Groups restart when data change that their pods read from Secrets and ConfigMaps."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.restart_on_change import (
    Record,
    from_text,
    to_text,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.pod_references import Use, uses
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import (
    Answers,
    answers_of,
    decided,
    inputs,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import entry, written_by
from hypothesis import given
from hypothesis import strategies as some

Manifest = dict[str, Any]

DB, EXTRA = ObjectKey("Secret", "db"), ObjectKey("ConfigMap", "extra")
ALL, NONE = None, frozenset[str]()


def read(*keys: str, optional: bool = False) -> Use:
    """Return the use of these keys of the data."""
    return Use(frozenset(keys), NONE if optional else frozenset(keys), optional)


# (id, spec of the pod, what it reads)
USES: list[tuple[str, Manifest, dict[ObjectKey, Use]]] = [
    ("nothing", {"containers": [{"env": [{"name": "A", "value": "b"}, {"name": "B"}], "envFrom": None}]}, {}),
    ("all of a Secret", {"containers": [{"envFrom": [{"prefix": "X_", "secretRef": {"name": "db"}}]}]},
     {DB: Use(ALL)}),
    ("all of a ConfigMap", {"initContainers": [{"envFrom": [{"configMapRef": {"name": "extra", "optional": True}}]}]},
     {EXTRA: Use(ALL, is_optional=True)}),
    ("variables", {"containers": [{"env": [
        {"name": "A", "valueFrom": {"secretKeyRef": {"name": "db", "key": "a"}}},
        {"name": "B", "valueFrom": {"secretKeyRef": {"name": "db", "key": "b", "optional": True}}},
        {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "extra", "key": "c"}}},
        {"name": "D", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
    ]}]}, {DB: Use(frozenset({"a", "b"}), frozenset({"a"})), EXTRA: read("c")}),
    ("volumes", {"volumes": [
        {"name": "v", "secret": {"secretName": "db"}},
        {"name": "w", "configMap": {"name": "extra", "items": [{"key": "c", "path": "d"}]}},
        {"name": "x", "emptyDir": {}},
    ]}, {DB: Use(ALL), EXTRA: read("c")}),
    ("a projected volume", {"volumes": [{"name": "v", "projected": {"sources": [
        {"secret": {"name": "db", "items": [{"key": "a", "path": "a"}], "optional": True}},
        {"serviceAccountToken": {"path": "token"}},
        {"downwardAPI": {"items": []}},
        {"clusterTrustBundle": {"name": "extra", "path": "ca"}},
    ]}}]}, {DB: read("a", optional=True)}),
    ("one key and all", {"containers": [
        {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "db", "key": "a"}}}]},
        {"envFrom": [{"secretRef": {"name": "db"}}]},
    ]}, {DB: Use(ALL, frozenset({"a"}))}),
    ("what only the kubelet reads", {"imagePullSecrets": [{"name": "db"}], "volumes": [
        {"name": "v", "csi": {"driver": "d", "nodePublishSecretRef": {"name": "db"}}}]}, {}),
    ("our ConfigMaps", {"volumes": [
        {"name": "common-config-volume", "configMap": {"name": "c-druid-common-config"}},
        {"name": "nodetype-config-volume", "configMap": {"name": "druid-c-brokers-config"}},
        {"name": "again", "configMap": {"name": "druid-c-brokers-config"}},
    ]}, {}),
]  # fmt: skip


@pytest.mark.parametrize(("pod", "expected"), [row[1:] for row in USES], ids=[row[0] for row in USES])
def test_what_pods_read(pod: Manifest, expected: dict[ObjectKey, Use]) -> None:
    assert uses(pod, ["druid-c-brokers-config"]) == expected


def secret(name: str = "db", uid: str = "u-1", written: str = "", **data: str) -> Manifest:
    """Return a Secret; `written` is when its data were last written."""
    managed = [{**entry("kubectl", {"f:data": {}}), "time": written}] if written else []
    metadata = {"name": name, "namespace": "ns", "uid": uid, "managedFields": managed}
    return {"kind": "Secret", "metadata": metadata, "data": data}


def config_map(uid: str = "u-2", **fields: Any) -> Manifest:
    return {"kind": "ConfigMap", "metadata": {"name": "extra", "namespace": "ns", "uid": uid}, **fields}


EVERYTHING = Use(ALL)
# (id, two objects, how they are used, whether the digest is the same)
DIGESTS: list[tuple[str, Manifest, Manifest, Use, bool]] = [
    ("the order of keys", secret(a="1", b="2"), secret(b="2", a="1"), EVERYTHING, True),
    ("another value", secret(a="1"), secret(a="2"), EVERYTHING, False),
    ("another key", secret(a="1"), secret(a="1", b="2"), EVERYTHING, False),
    ("a key that is not read", secret(a="1"), secret(a="1", b="2"), read("a"), True),
    ("a Secret with the same data and another uid", secret(a="1"), secret(uid="u-9", a="1"), EVERYTHING, False),
    ("a ConfigMap that was created again", config_map(data={"a": "1"}), config_map("u-9", data={"a": "1"}),
     EVERYTHING, True),
    ("binary data", config_map(binaryData={"a": "MQ=="}), config_map(binaryData={"a": "Mg=="}), read("a"), False),
    ("text that looks like binary data", config_map(binaryData={"a": "MQ=="}), config_map(data={"a": "MQ=="}),
     EVERYTHING, False),
    ("an empty object", config_map(), config_map(data=None), EVERYTHING, True),
    ("other metadata", secret(a="1", written="2026-01-02T03:04:05Z"), secret(a="1"), EVERYTHING, True),
    ("an immutable object", config_map(immutable=True), config_map(), EVERYTHING, True),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "use", "same"), [r[1:] for r in DIGESTS], ids=[r[0] for r in DIGESTS])
def test_digests(one: Manifest, other: Manifest, use: Use, same: bool) -> None:
    first, second = (use.digest_of(each["kind"], each) for each in (one, other))
    assert (first == second) == same


@pytest.mark.parametrize(
    ("use", "live", "expected"),
    [
        (Use(ALL), None, "unknown"),
        (Use(ALL, is_optional=True), None, "absent"),
        (read("a"), secret(b="1"), "unknown"),
    ],
)
def test_what_has_no_digest(use: Use, live: Manifest | None, expected: str) -> None:
    assert use.digest_of("Secret", live) == expected


# (id, digests in the workload, in the pod template, current ones, in the workload afterwards, in the pod template)
RECORDS: list[tuple[str, str, str, str, str, str]] = [
    ("nothing", "", "", "", "", ""),
    ("the first time", "", "", "Secret/db/1", "Secret/db/1", ""),
    ("no change", "Secret/db/1", "", "Secret/db/1", "Secret/db/1", ""),
    ("a change", "Secret/db/1", "", "Secret/db/2", "Secret/db/1", "Secret/db/2"),
    ("a restart before", "Secret/db/1", "Secret/db/2", "Secret/db/2", "Secret/db/1", "Secret/db/2"),
    ("back to the first data", "Secret/db/1", "Secret/db/2", "Secret/db/1", "Secret/db/1", "Secret/db/1"),
    ("another object", "Secret/db/1", "Secret/db/2", "ConfigMap/extra/3,Secret/db/2",
     "ConfigMap/extra/3,Secret/db/1", "Secret/db/2"),
    ("a change of one of two", "ConfigMap/extra/3,Secret/db/1", "Secret/db/2", "ConfigMap/extra/4,Secret/db/2",
     "ConfigMap/extra/3,Secret/db/1", "ConfigMap/extra/4,Secret/db/2"),
    ("an object that is not used any more", "ConfigMap/extra/3,Secret/db/1", "ConfigMap/extra/4", "Secret/db/2",
     "Secret/db/1", "Secret/db/2"),
    ("a deleted object", "Secret/db/1", "", "Secret/db/unknown", "Secret/db/1", ""),
    ("a deleted object that is optional", "Secret/db/1", "", "Secret/db/absent", "Secret/db/1", ""),
    ("an object without which no pod has started", "Secret/db/unknown", "", "Secret/db/1", "Secret/db/1", ""),
    ("one without which pods have started", "Secret/db/absent", "", "Secret/db/1", "Secret/db/absent", "Secret/db/1"),
    ("other keys of it", "Secret/db/k.1", "", "Secret/db/l.2", "Secret/db/l.2", ""),
    ("other keys of it after a restart", "Secret/db/k.1", "Secret/db/k.2", "Secret/db/l.3",
     "Secret/db/l.3", "Secret/db/k.2"),
    ("a change after that", "Secret/db/l.3", "Secret/db/k.2", "Secret/db/l.4", "Secret/db/l.3", "Secret/db/l.4"),
    ("annotations that are none", "Secret,Secret/db,a/b/c/d", "?", "Secret/db/1", "Secret/db/1", "?"),
]  # fmt: skip


@pytest.mark.parametrize("row", [row[1:] for row in RECORDS], ids=[row[0] for row in RECORDS])
def test_records(row: tuple[str, ...]) -> None:
    recorded, restarted, current, *expected = row
    assert Record(recorded, restarted).with_current(from_text(current)) == tuple(expected)


KEYS = (DB, EXTRA, ObjectKey("Secret", "tls"))
texts = some.sampled_from(["1", "2", "absent", "unknown"])


@given(some.lists(some.fixed_dictionaries(dict.fromkeys(KEYS, texts)), min_size=1))
def test_a_group_restarts_once_for_each_change(history: list[dict[ObjectKey, str]]) -> None:
    """The pods have read what was there when they started last; what is not known changes nothing."""
    record, has_read = Record(), dict[ObjectKey, str]()
    for current in history:
        found = current.items()
        known = {key: text for key, text in found if text in "12" or (text == "absent" and key not in has_read)}
        before, record = record, record.with_current(current)
        due = any(has_read.get(key, text) != text for key, text in known.items())
        assert (record.restarted != before.restarted) == due
        assert record.with_current(current) == record
        has_read |= known


@given(some.dictionaries(some.sampled_from(KEYS), texts))
def test_annotations(found: dict[ObjectKey, str]) -> None:
    assert from_text(to_text(found)) == found


# Two of four groups use the Secret.
PASSWORD = {"env": [{"name": "P", "valueFrom": {"secretKeyRef": {"name": "db", "key": "p"}}}]}
NODES = {"historicals": PASSWORD, "brokers": {"kind": "Deployment", "envFrom": [{"secretRef": {"name": "db"}}]}}
ON, OFF = {"druid.apache.org/restart-on-change": "true"}, {"druid.apache.org/restart-on-change": "false"}
OLD_DATA, NEW_DATA = secret(p="b2xk"), secret(p="bmV3", written="2026-01-02T03:04:05Z")


def cluster(annotations: Any = None, nodes: Any = None) -> Cluster:
    return rolling.cluster(annotations=annotations, nodes=NODES if nodes is None else nodes)


def plan(which: Cluster, live: Observed, *objects: Manifest) -> Plan:
    return decided(inputs(which, live, objects=objects))


def after(live: Observed, found: Plan) -> Observed:
    """Return the live state after the steps of a plan, when all pods are ready again."""
    written = [step.after for step in found.steps if step.after is not None]
    return live.with_objects(rolling.available(each) if each["kind"] in WORKLOADS else each for each in written)


def with_records(which: Cluster | None = None, *objects: Manifest) -> Observed:
    """Return a cluster with records of these objects."""
    live = rolling.observed(which or cluster())
    return after(live, plan(replace(which or cluster(), annotations=ON), live, *(objects or (OLD_DATA,))))


def restarts(found: Plan) -> list[str]:
    return [text for text in plan_output.lines(found) if text.startswith("restart ")]


def records(live: Observed) -> dict[str, Record]:
    found = ((each["metadata"]["name"], Record.of(each)) for each in live.of_kind("StatefulSet", "Deployment"))
    return {name.removeprefix("druid-c-"): record for name, record in found if record != ("", "")}


def test_a_change_restarts_the_groups_that_use_the_secret_one_after_the_other() -> None:
    live = with_records()
    found = plan(cluster(), live, NEW_DATA)
    assert restarts(found) == [
        "restart 1: group historicals (StatefulSet druid-c-historicals), 2 pods: Secret db changed",
        "restart 2: group brokers (Deployment druid-c-brokers), 2 pods: Secret db changed",
    ]
    assert (found.restarts, found.pending_restarts) == (("historicals",), ("brokers",))
    live = after(live, found)
    found = plan(cluster(), live, NEW_DATA)
    assert (found.restarts, found.pending_restarts) == (("brokers",), ())
    live = after(live, found)
    assert not plan(cluster(), live, NEW_DATA).steps
    assert not found.warnings


def test_a_change_that_is_taken_back_restarts_nothing_more() -> None:
    live = with_records()
    live = after(live, plan(cluster(), live, NEW_DATA))
    assert plan(cluster(), live, OLD_DATA).restarts == ("historicals",)


def test_a_key_that_no_pod_of_a_group_reads_restarts_the_others() -> None:
    assert plan(cluster(), with_records(), {**OLD_DATA, "data": {"p": "b2xk", "q": ""}}).restarts == ("brokers",)


def test_no_output_has_the_data() -> None:
    found = plan(cluster(), with_records(), NEW_DATA)
    texts = json.dumps([plan_output.lines(found), plan_output.diff(found), found.warnings, found.rollout_warnings])
    assert "Secret/db/" in texts
    assert not [each for each in ("b2xk", "bmV3", "u-1") if each in texts]


def created_workloads(found: Plan) -> list[Manifest]:
    return [step.created for step in found.steps if step.key.kind in WORKLOADS]


def test_a_new_cluster_has_records_and_no_other_pod_template() -> None:
    found = plan(cluster(), Observed(), OLD_DATA)
    created = Observed().with_objects(created_workloads(found))
    assert {*records(created)} == {*NODES}
    assert not any(record.restarted for record in records(created).values())
    assert not found.warnings


def test_a_secret_that_is_created_after_its_cluster_restarts_no_pods() -> None:
    """Its pods have waited for it, so they have its data."""
    created = plan(cluster(), Observed())
    live = rolling.observed(cluster()).with_objects(created_workloads(created))
    found = plan(cluster(), after(live, created), OLD_DATA)
    assert not found.restarts
    assert "Secret/db/" in json.dumps([step.after for step in found.steps])


@pytest.mark.parametrize("which", [OFF, None], ids=["switched off", "by default"])
def test_an_existing_cluster_restarts_nothing(which: Any) -> None:
    found = plan(cluster(which), rolling.observed(cluster()), NEW_DATA)
    assert (found.steps, found.later) == ((), ())
    assert len(found.warnings) == (which is None)


def test_the_warning_has_the_command() -> None:
    [text] = plan(cluster(), rolling.observed(cluster()), OLD_DATA).warnings
    assert text == (
        "the pods of historicals, brokers refer to Secret db, and do not restart when their data change. To restart "
        "them then, one group after the other, run kubectl annotate --overwrite druid c --namespace ns "
        '"druid.apache.org/restart-on-change=true"; with false, this warning ends'
    )


@pytest.mark.parametrize(("started", "is_named"), [("2026-01-02T03:04:04Z", True), ("2026-01-02T03:04:06Z", False)])
def test_the_warning_names_data_that_are_newer_than_pods(started: str, is_named: bool) -> None:
    pod = rolling.pod("brokers", 0, container={"state": {"running": {"startedAt": started}}})
    [text] = plan(cluster(), rolling.observed(cluster()).with_objects([pod]), NEW_DATA).warnings
    assert ("may still have the earlier data of Secret db (2026-01-02T03:04:05Z)" in text) == is_named
    assert ("druid.apache.org/restarted-at=$(date" in text) == is_named


def test_a_cluster_that_refers_to_nothing_is_not_asked_about() -> None:
    empty = cluster(nodes={})
    for live in (Observed(), rolling.observed(empty)):
        found = inputs(empty, live)
        assert not decided(found).warnings
        assert not {key for key in answers_of(found).asked if key in (DB, EXTRA)}


def test_each_object_is_read_once() -> None:
    found = inputs(cluster(), with_records(), objects=[OLD_DATA])
    decided(found)
    assert [key for key in answers_of(found).asked if key == DB] == [DB]


def test_the_first_reference_of_an_existing_cluster_is_recorded() -> None:
    """Its pods restart anyway."""
    found = plan(cluster(), rolling.observed(cluster(nodes={})), OLD_DATA)
    assert not found.warnings
    assert records(after(Observed(), found)).keys() == NODES.keys()


@pytest.mark.parametrize(
    ("annotations", "data"),
    [
        (OFF, NEW_DATA),
        ({f"restart-on-change.druid.apache.org/{key}": "false" for key in NODES}, NEW_DATA),
        ({}, {**NEW_DATA, "metadata": {**NEW_DATA["metadata"], "annotations": OFF}}),
    ],
    ids=["cluster", "groups", "object"],
)
def test_what_is_excluded_restarts_nothing_and_stays_recorded(annotations: Any, data: Manifest) -> None:
    live = with_records()
    found = plan(cluster(annotations), live, data)
    assert not found.steps
    assert plan(cluster(), live, NEW_DATA).restarts == ("historicals",)


def test_what_may_not_be_read_restarts_nothing() -> None:
    class Forbidden(Answers):
        def get(self, kind: str, name: str) -> Manifest | None:
            if kind == "Secret":
                raise ApiError("get", "secrets", kind, "ns", name, 403, {"message": "secrets is forbidden"})
            return super().get(kind, name)

    found = decided(inputs(cluster(), with_records(), reads=Forbidden()))
    assert not found.steps
    assert "no pods restart when Secret db changes, because it cannot be read" in found.warnings[0]


def test_a_wrong_setting_is_ignored() -> None:
    wrong = {"druid.apache.org/restart-on-change": "yes", "restart-on-change.druid.apache.org/brokers": "no"}
    found = plan(cluster(wrong), with_records(), NEW_DATA)
    assert found.restarts == ("historicals",)
    assert [text.split()[1] for text in found.warnings] == [*wrong]


def test_duplicates_of_a_pod_template_stay_until_the_data_change() -> None:
    twice = {"historicals": {"env": [*PASSWORD["env"], {"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}}
    which = cluster(nodes=twice)
    verbatim = render(which).verbatim["historicals"]
    live = rolling.observed(which)
    found = live.with_objects([rolling.available(written_by("druid-operator", verbatim))])
    recorded = after(found, plan(cluster(ON, twice), found, OLD_DATA))
    assert not plan(which, recorded, OLD_DATA).restarts
    assert plan(which, recorded, NEW_DATA).restarts == ("historicals",)


def test_workers_are_drained_before_they_restart() -> None:
    drained = rolling.cluster(nodes={"middlemanagers": PASSWORD}, middleManagerDrainStrategy={})
    [step] = plan(drained, with_records(drained), NEW_DATA).steps
    assert step.after is not None
    assert step.after["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 2}
    assert Record.of(step.after).restarted


def test_the_pods_of_an_interrupted_recreation_keep_their_template() -> None:
    live = with_records()
    live = after(live, plan(cluster(), live, NEW_DATA))
    workload = live.objects[ObjectKey("StatefulSet", "druid-c-historicals")]
    template = workload["spec"]["template"]
    pods = [
        {**each, "spec": template["spec"], "metadata": {**each["metadata"], **template["metadata"]}}
        for each in live.of_kind("Pod")
        if each["metadata"]["name"].startswith("druid-c-historicals")
    ]
    found = plan(cluster(), live.with_objects(pods).without([key_of(workload)]), NEW_DATA)
    [created] = [step for step in found.steps if step.operation.verb == "create"]
    assert created.created["spec"]["template"] == template
    assert created.restart.pods == 0
