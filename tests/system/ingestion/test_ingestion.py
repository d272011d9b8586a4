# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An ingestion from its resource to Druid and back: on a real control plane, with a real Druid and a real Kafka."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import calls
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import write_change
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record_check import note_of
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.ingestion_in_process import (
    KIND,
    Ingesting,
    done,
    ingesting,
)
from ansible_collections.druidops.druid.tests.system.support.ingestion_specs import batch_spec, kafka_spec
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from testbed.druid.druid import Druid
from testbed.recording_proxy import UNAVAILABLE

ONE_TRY = Options(timeouts=Timeouts(retry_timeout=0))
STRICT = Options(is_strict=True)
FINALIZER = "druidingestion.datainfra.io/finalizer"


# tests of this group change where Druid stores the compaction
CLUSTER_WIDE = pytest.mark.xdist_group("cluster-wide")


@pytest.fixture
def ingestion(live: NamespaceClient, druid: Druid) -> Iterator[Ingesting]:
    with ingesting(live, druid) as started:
        yield started


def test_supervisor_is_created_kept_and_terminated(ingestion: Ingesting) -> None:
    ingestion.kafka.make_topic(ingestion.name)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion)))

    ingestion.settled()

    stored = ingestion.stored
    assert stored["metadata"]["finalizers"] == [FINALIZER]
    assert (stored["status"]["taskId"], stored["status"]["detailedState"]) == (ingestion.name, "RUNNING")
    assert ingestion.condition("Ready") == ("True", "Running")
    assert ingestion.name in ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")
    eventually(ingestion.is_reading)

    again = ingestion.one_pass()
    assert (done(again), ingestion.writes) == ((), [])

    ingestion.live.merge(KIND, ingestion.name, {"spec": {"suspend": True}})
    ingestion.settled()
    assert ingestion.condition("Ready") == ("True", "Suspended")
    assert ingestion.condition("Suspended") == ("True", "Suspended")

    ingestion.live.merge(KIND, ingestion.name, {"spec": {"suspend": False}})
    ingestion.settled()
    assert ingestion.condition("Ready") == ("True", "Running")
    eventually(ingestion.is_reading)

    ingestion.one_pass(absent=True)
    assert ingestion.live.find(KIND, ingestion.name) is None
    assert ingestion.name not in ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")


@CLUSTER_WIDE
def test_ignored_field_is_sent_once_and_reported(ingestion: Ingesting) -> None:
    """An unknown field is no reason to write in every reconcile, which would store a version since Druid 33."""
    ingestion.kafka.make_topic(ingestion.name)
    spec = kafka_spec(ingestion, inputFormat={"type": "json", "featureSpce": {}})
    compaction = {"skipOffsetFromLatest": "PT4H", "tuningConfig": {"splitHintSpec": {"type": "maxSize", "maxSpilt": 1}}}
    ingestion.live.create(ingestion.resource("kafka", spec, suspend=True, compaction=compaction))
    outcomes = [ingestion.one_pass(), ingestion.one_pass()]
    assert (done(outcomes[1]), ingestion.writes) == ((), [])
    for outcome in outcomes:
        warnings = " ".join(outcome.warnings)
        assert "does not return field spec.ioConfig.inputFormat.featureSpce" in warnings
        assert "does not return field tuningConfig.splitHintSpec.maxSpilt" in warnings
    events = [each for each in ingestion.live.list("Event") if each["reason"] == "SpecWarning"]
    # reported when the resource was new, not in each reconcile
    assert sorted((each["message"], each["count"]) for each in events) == sorted((w, 1) for w in outcomes[0].warnings)

    # other changes are reverted, and nothing else
    changed = ingestion.druid.request("GET", f"/druid/indexer/v1/supervisor/{ingestion.name}")
    changed["spec"]["ioConfig"]["taskDuration"] = "PT30M"
    ingestion.druid.request("POST", "/druid/indexer/v1/supervisor", changed)
    assert f"update supervisor {ingestion.name}" in done(ingestion.one_pass())
    now = ingestion.druid.request("GET", f"/druid/indexer/v1/supervisor/{ingestion.name}")
    assert now["spec"]["ioConfig"]["taskDuration"] == "PT60S"
    assert (done(ingestion.one_pass()), ingestion.writes) == ((), [])

    # the suspension changes alone
    for suspend, operation in ((False, "resume"), (True, "suspend")):
        ingestion.live.merge(KIND, ingestion.name, {"spec": {"suspend": suspend}})
        outcome = ingestion.one_pass()
        assert ingestion.writes == [f"POST /druid/indexer/v1/supervisor/{ingestion.name}/{operation}"]
        (entry,) = [each for each in INGESTION.diff(outcome.plan) if "supervisor" in each["before_header"]]
        before, after = entry["before"], entry["after"]
        assert {name for name in after if after[name] != before[name]} == {"suspended"}
        assert (done(ingestion.one_pass()), ingestion.writes) == ((), [])


def test_a_batch_runs_once(ingestion: Ingesting) -> None:
    ingestion.live.create(ingestion.resource("native-batch", batch_spec(ingestion)))

    first = ingestion.settled()

    assert first.report is not None
    assert ingestion.condition("Ready") == ("True", "Succeeded")
    task = ingestion.stored["status"]["taskId"]
    again = ingestion.one_pass()
    assert (done(again), ingestion.writes) == ((), [])

    changed = batch_spec(ingestion, "2026-01-02T00:00:00Z,b")
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"ingestion": {"nativeSpec": changed}}})
    ingestion.settled()
    assert ingestion.stored["status"]["taskId"] != task


def test_specified_id_is_used_for_one_spec(ingestion: Ingesting) -> None:
    own = f"{ingestion.name}-own"
    ingestion.live.create(ingestion.resource("native-batch", {**batch_spec(ingestion), "id": own}))
    assert f"submit task {own}" in done(ingestion.one_pass())
    ingestion.proxy.forget()
    changed = batch_spec(ingestion, "2026-01-02T00:00:00Z,b")
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"ingestion": {"nativeSpec": changed}}})
    ingestion.one_pass()
    assert ingestion.condition("Ready") == ("False", "TaskIdConflict")
    assert ingestion.writes == []
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"ingestion": {"nativeSpec": {"id": None}}}})
    ingestion.settled()
    assert ingestion.condition("Ready") == ("True", "Succeeded")


@CLUSTER_WIDE
def test_datasource_configuration_is_removed_with_its_specification(ingestion: Ingesting) -> None:
    rules = [{"type": "loadForever", "tieredReplicants": {"_default_tier": 1}}]
    compaction = {"skipOffsetFromLatest": "PT4H"}
    ingestion.kafka.make_topic(ingestion.name)
    ingestion.live.create(
        ingestion.resource("kafka", kafka_spec(ingestion), suspend=True, compaction=compaction, rules=rules)
    )
    ingestion.settled()
    assert [rule["type"] for rule in kept_rules(ingestion)] == ["loadForever"]
    assert kept_compaction(ingestion)["skipOffsetFromLatest"] == "PT4H"

    ingestion.druid.request("POST", rules_path(ingestion), [{"type": "dropForever"}])
    assert done(ingestion.one_pass()) == (f"update retention rules of {ingestion.name}",)
    assert [rule["type"] for rule in kept_rules(ingestion)] == ["loadForever"]

    ingestion.live.merge(KIND, ingestion.name, {"spec": {"ingestion": {"rules": None, "compaction": None}}})
    ingestion.settled()
    assert kept_rules(ingestion) == []
    assert kept_compaction(ingestion) is None


@CLUSTER_WIDE
def test_a_former_datasource_keeps_its_configuration(ingestion: Ingesting) -> None:
    """Its data stays, and would otherwise be dropped or loaded as the default rules say."""
    rules = [{"type": "loadByPeriod", "period": "P1M", "tieredReplicants": {"_default_tier": 1}}]
    ingestion.kafka.make_topic(ingestion.name)
    spec = kafka_spec(ingestion)
    ingestion.live.create(ingestion.resource("kafka", spec, suspend=True, compaction={}, rules=rules))
    ingestion.settled()

    spec["spec"]["dataSchema"]["dataSource"] = f"{ingestion.name}-renamed"
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"ingestion": {"nativeSpec": spec}}})
    predicted, outcome = ingestion.one_pass(check_mode=True), ingestion.one_pass()

    assert done(predicted) == done(outcome)
    assert [text for text in predicted.warnings if f"Datasource {ingestion.name} keeps its data and its comp" in text]
    ingestion.settled()
    assert [rule["type"] for rule in kept_rules(ingestion)] == ["loadByPeriod"]
    assert kept_compaction(ingestion) is not None
    events = [each["message"] for each in ingestion.live.list("Event")]
    assert any("To remove them, use the module compaction and retention_rules" in text for text in events), events


def rules_path(ingestion: Ingesting) -> str:
    return f"/druid/coordinator/v1/rules/{ingestion.name}"


def kept_rules(ingestion: Ingesting) -> Any:
    return ingestion.druid.request("GET", rules_path(ingestion))


def kept_compaction(ingestion: Ingesting) -> Any:
    listed = ingestion.druid.request("GET", "/druid/coordinator/v1/config/compaction")["compactionConfigs"]
    return next((each for each in listed if each["dataSource"] == ingestion.name), None)


def change_in_druid(ingestion: Ingesting) -> None:
    """A user changes the supervisor in Druid's console."""
    path = f"/druid/indexer/v1/supervisor/{ingestion.name}"
    spec = ingestion.druid.request("GET", path)
    spec["spec"]["ioConfig"]["taskCount"] = 3
    ingestion.druid.request("POST", "/druid/indexer/v1/supervisor", spec)


def task_count(ingestion: Ingesting) -> int:
    spec = ingestion.druid.request("GET", f"/druid/indexer/v1/supervisor/{ingestion.name}")
    count: int = spec["spec"]["ioConfig"]["taskCount"]
    return count


def test_drift_is_reverted_or_reported(ingestion: Ingesting) -> None:
    ingestion.kafka.make_topic(ingestion.name)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion, taskCount=2), suspend=True))
    ingestion.settled()

    change_in_druid(ingestion)
    planned = ingestion.one_pass(check_mode=True)
    assert (done(planned), ingestion.writes) == ((f"update supervisor {ingestion.name}",), [])
    [diff] = INGESTION.diff(planned.plan)
    assert (diff["before"]["spec"]["ioConfig"]["taskCount"], diff["after"]["spec"]["ioConfig"]["taskCount"]) == (3, 2)
    assert done(ingestion.one_pass()) == done(planned)
    assert task_count(ingestion) == 2

    ingestion.live.merge(KIND, ingestion.name, {"spec": {"driftPolicy": "Report"}})
    ingestion.one_pass()
    change_in_druid(ingestion)
    assert (done(ingestion.one_pass()), ingestion.writes) == ((), [])
    assert ingestion.condition("Degraded") == ("True", "DriftDetected")
    assert task_count(ingestion) == 3


def test_removed_field_is_removed(ingestion: Ingesting) -> None:
    ingestion.kafka.make_topic(ingestion.name)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion, taskCount=2), suspend=True))
    ingestion.settled()
    dropped = {"ioConfig": {"taskCount": None}}
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"ingestion": {"nativeSpec": {"spec": dropped}}}})
    ingestion.settled()
    assert task_count(ingestion) == 1


def test_supervisor_of_the_go_operator_is_adopted(ingestion: Ingesting) -> None:
    """Neither is the supervisor touched nor a second task submitted."""
    ingestion.kafka.make_topic(ingestion.name)
    document = {"type": "kafka", "suspended": True, **kafka_spec(ingestion)}
    ingestion.druid.request("POST", "/druid/indexer/v1/supervisor", document)
    stored = ingestion.live.create(ingestion.resource("kafka", document))
    as_the_go_operator(ingestion, ingestion.name, document)
    taken = ingestion.settled()
    assert ingestion.writes == []
    assert taken.report is not None
    assert "currentIngestionSpec.json" not in ingestion.stored["status"]
    assert ingestion.stored["metadata"]["uid"] == stored["metadata"]["uid"]
    versions = ingestion.druid.request("GET", f"/druid/indexer/v1/supervisor/{ingestion.name}/history")
    assert len(versions) == 1

    # its record is deleted first, and the status contains what has to be terminated
    record = ingestion.live.get("ConfigMap", f"{ingestion.name}-ingestion")
    assert ingestion.stored["status"]["appliedHash"] == record["data"]["sha256"]
    ingestion.live.delete(KIND, ingestion.name, "Foreground")
    eventually(lambda: ingestion.live.find("ConfigMap", f"{ingestion.name}-ingestion") is None)
    ingestion.one_pass(absent=True)
    assert ingestion.name not in ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")


def as_the_go_operator(ingestion: Ingesting, task: str, document: Any) -> None:
    """Set the status to that after a response of Druid."""
    status = {
        "taskId": task,
        "type": "DruidIngestionControllerCreateSuccess",
        "status": "True",
        "currentIngestionSpec.json": json.dumps(document),
    }
    path = f"{ingestion.live.path(KIND, ingestion.name)}/status"
    ingestion.live.plane.request("PATCH", path, {"status": status}, content_type="application/merge-patch+json")


def test_an_unknown_field_is_a_problem_if_the_task_requires_it(ingestion: Ingesting) -> None:
    """Druid shows it after the first change."""
    ingestion.kafka.make_topic(ingestion.name)
    spec = kafka_spec(ingestion, inputFormat={"type": "json", "featureSpce": {}})
    ingestion.live.create(ingestion.resource("kafka", spec, suspend=True))
    [problem] = ingestion.one_pass(settings=STRICT).problems
    assert "spec.ioConfig.inputFormat.featureSpce" in problem.message
    assert problem.message.endswith("All other fields are set (unknown_fields: fail).")
    assert ingestion.one_pass(settings=STRICT).problems == ()
    assert ingestion.writes == []


@pytest.fixture
def others(ingestion: Ingesting) -> Iterator[str]:
    """Yield the id of a supervisor that another client has created in the same Druid."""
    ingestion.kafka.make_topic(ingestion.name)
    others, spec = f"{ingestion.name}-of-others", suspended_spec(ingestion)
    data_schema = {**spec["spec"]["dataSchema"], "dataSource": others}
    ingestion.druid.request(
        "POST", "/druid/indexer/v1/supervisor", {**spec, "spec": {**spec["spec"], "dataSchema": data_schema}}
    )
    try:
        yield others
        assert others in ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")
    finally:
        for each in {others, ingestion.name} & {*ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")}:
            ingestion.druid.request("POST", f"/druid/indexer/v1/supervisor/{each}/terminate")


def suspended_spec(ingestion: Ingesting) -> dict[str, Any]:
    return {"type": "kafka", "suspended": True, **kafka_spec(ingestion)}


def test_a_status_terminates_nothing_that_the_resource_does_not_specify(ingestion: Ingesting, others: str) -> None:
    """Neither in a reconcile nor in the deletion: not only the operator may have written it."""
    ingestion.live.create(ingestion.resource("kafka", suspended_spec(ingestion)))
    as_the_go_operator(ingestion, others, {})
    assert f"Only the status names supervisor {others}" in " ".join(ingestion.one_pass().warnings)
    ingestion.settled()
    ingestion.live.delete("ConfigMap", f"{ingestion.name}-ingestion")
    path = f"{ingestion.live.path(KIND, ingestion.name)}/status"
    forged = {"status": {"taskId": others, "appliedHash": "a"}}
    ingestion.live.plane.request("PATCH", path, forged, content_type="application/merge-patch+json")
    [warning] = ingestion.one_pass(absent=True).warnings
    assert f"Only the status names supervisor {others}, which the resource does not specify" in warning


def test_a_config_map_terminates_and_removes_nothing(ingestion: Ingesting, others: str) -> None:
    """Neither in a reconcile, where it is corrected, nor in the deletion, which still terminates its own supervisor."""
    ingestion.live.create(ingestion.resource("kafka", suspended_spec(ingestion)))
    ingestion.settled()
    rules = [{"type": "loadForever", "tieredReplicants": {"_default_tier": 1}}]
    ingestion.druid.request("POST", f"/druid/coordinator/v1/rules/{ingestion.name}", rules)
    specified = ingestion.live.get("ConfigMap", f"{ingestion.name}-ingestion")["data"]["spec.json"]
    forged = {"spec.json": json.dumps({**json.loads(specified), "rules": rules, "compaction": {}})}
    for state, data in (({"former": [others]}, {}), ({"id": others, "former": [others]}, {}), ({}, forged)):
        before = edit_record(ingestion, state, data)
        outcome = ingestion.one_pass()
        assert f"ConfigMap {ingestion.name}-ingestion is not as this resource has written it" in outcome.warnings[0]
        assert (record_state(ingestion), ingestion.writes) == (before, [])
        assert ingestion.live.get("ConfigMap", f"{ingestion.name}-ingestion")["data"]["spec.json"] == specified
        assert others not in json.dumps(ingestion.stored["metadata"]["annotations"])
    assert ingestion.druid.request("GET", f"/druid/coordinator/v1/rules/{ingestion.name}")
    edit_record(ingestion, {"id": others, "former": [others]}, forged)
    path = f"{ingestion.live.path(KIND, ingestion.name)}/status"
    ingestion.live.plane.request(
        "PATCH", path, {"status": {"taskId": None}}, content_type="application/merge-patch+json"
    )
    ingestion.one_pass(absent=True)
    listed = ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")
    assert ingestion.live.find(KIND, ingestion.name) is None
    assert ingestion.name not in listed


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_supervisor_is_known_although_the_resource_is_edited_during_the_first_run(
    ingestion: Ingesting, monkeypatch: pytest.MonkeyPatch, is_deleted: bool
) -> None:
    """That run writes no status: it would be one of the former generation."""
    new = to_be_renamed(ingestion)

    def edited(client: Any, step: Any) -> Any:
        rename(ingestion, new)
        return write_change(client, step)

    with monkeypatch.context() as patch:
        patch.setattr(calls, "write_change", edited)
        ingestion.one_pass()
    assert "taskId" not in ingestion.stored["status"]
    assert_only_the_new_one_is_left(ingestion, new, is_deleted)


def test_a_config_map_that_was_made_before_the_resource_is_not_used(ingestion: Ingesting, others: str) -> None:
    variables = ingestion.resource("kafka", suspended_spec(ingestion))["spec"]
    ingestion.one_pass(spec=variables, without_resource=True)
    edit_record(ingestion, {"former": [others]})
    ingestion.live.create(ingestion.resource("kafka", suspended_spec(ingestion)))
    outcome = ingestion.one_pass()
    assert "ConfigMap" in outcome.warnings[0]
    assert not [title for title in done(outcome) if "terminate" in title]
    ingestion.settled()
    assert ingestion.one_pass().warnings == ()


def test_a_copied_resource_reports_nothing_of_the_original(ingestion: Ingesting) -> None:
    """It has its annotations, too."""
    new = to_be_renamed(ingestion)
    ingestion.settled()
    copy = ingestion.resource("kafka", kafka_spec(new), suspend=True)
    copy["metadata"] = {"name": new.name, "annotations": ingestion.stored["metadata"]["annotations"]}
    ingestion.live.create(copy)
    for _repeated in range(2):
        assert new.one_pass().problems == ()
    new.one_pass(absent=True)
    assert {*ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")} & {ingestion.name, new.name} == {
        ingestion.name
    }


def test_a_resource_that_was_replaced_without_its_annotation_keeps_its_record(ingestion: Ingesting) -> None:
    """As by `kubectl replace`: its status confirms the record."""
    new = to_be_renamed(ingestion)
    ingestion.settled()
    replaced = ingestion.resource("kafka", kafka_spec(new), suspend=True)
    replaced["metadata"]["resourceVersion"] = ingestion.stored["metadata"]["resourceVersion"]
    replaced["apiVersion"] = ingestion.stored["apiVersion"]
    ingestion.live.plane.request("PUT", ingestion.live.path(KIND, ingestion.name), replaced)
    assert_only_the_new_one_is_left(ingestion, new, is_deleted=False)


def test_a_supervisor_whose_record_is_lost_is_reported_until_it_is_terminated(ingestion: Ingesting) -> None:
    new = to_be_renamed(ingestion)
    ingestion.settled()
    ingestion.live.delete("ConfigMap", f"{ingestion.name}-ingestion")
    rename(ingestion, new)
    for _repeated in range(3):
        [problem] = ingestion.one_pass().problems
        assert (problem.reason, f"Supervisor {ingestion.name}," in problem.message) == ("SupervisorLeft", True)
    assert ingestion.condition("Ready") == ("True", "Suspended")
    assert ingestion.condition("Degraded") == ("True", "SupervisorLeft")
    ingestion.druid.request("POST", f"/druid/indexer/v1/supervisor/{ingestion.name}/terminate")
    assert ingestion.one_pass().problems == ()
    assert_only_the_new_one_is_left(ingestion, new, is_deleted=True)


def to_be_renamed(ingestion: Ingesting) -> Ingesting:
    """Create the resource, and return what it is to ingest into later."""
    new = replace(ingestion, name=f"{ingestion.name}-new")
    for each in (ingestion, new):
        each.kafka.make_topic(each.name)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True))
    return new


def rename(ingestion: Ingesting, new: Ingesting) -> None:
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"ingestion": {"nativeSpec": kafka_spec(new)}}})


def assert_only_the_new_one_is_left(ingestion: Ingesting, new: Ingesting, is_deleted: bool) -> None:
    if is_deleted:
        ingestion.one_pass(absent=True)
    else:
        ingestion.settled()
        assert note_of(ingestion.stored["metadata"]).ids >= {new.name}
    left = {ingestion.name, new.name} & {*ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")}
    assert left == (set() if is_deleted else {new.name})


def record_state(ingestion: Ingesting) -> dict[str, Any]:
    data = ingestion.live.get("ConfigMap", f"{ingestion.name}-ingestion")["data"]
    state: dict[str, Any] = json.loads(data["state.json"])
    return state


def edit_record(ingestion: Ingesting, changes: dict[str, Any], more: Any = None) -> dict[str, Any]:
    """Edit the record as a client that may write ConfigMaps, and return what its state was."""
    before = record_state(ingestion)
    data = {"state.json": json.dumps({**before, **changes}), **(more or {})}
    ingestion.live.merge("ConfigMap", f"{ingestion.name}-ingestion", {"data": data})
    return before


def test_a_task_of_the_go_operator_is_not_submitted_again(ingestion: Ingesting) -> None:
    document = batch_spec(ingestion)
    task = ingestion.druid.request("POST", "/druid/indexer/v1/task", document)["task"]
    ingestion.live.create(ingestion.resource("native-batch", document))
    as_the_go_operator(ingestion, task, document)
    ingestion.settled()
    assert ingestion.stored["status"]["taskId"] == task
    tasks = ingestion.druid.request("GET", f"/druid/indexer/v1/tasks?datasource={ingestion.name}&type=index_parallel")
    assert len(tasks) == 1


def test_adoption_that_does_not_succeed_at_once(ingestion: Ingesting) -> None:
    """The Go operator's record of its task is kept until it is in ours: nothing else shows that it was submitted."""
    document = batch_spec(ingestion)
    task = ingestion.druid.request("POST", "/druid/indexer/v1/task", document)["task"]
    ingestion.live.create(ingestion.resource("native-batch", document, paused=True))
    as_the_go_operator(ingestion, task, document)
    ingestion.one_pass()
    assert ingestion.condition("Ready") == ("False", "ChangesPending")
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"paused": False}})
    ingestion.proxy.fail_next(UNAVAILABLE, path="/task")
    ingestion.one_pass(settings=ONE_TRY)
    assert ingestion.condition("Ready") == ("False", "DruidUnreachable")
    ingestion.settled()
    assert ingestion.stored["status"]["taskId"] == task
    assert "currentIngestionSpec.json" not in ingestion.stored["status"]
    assert ingestion.times_submitted("native-batch") == 1


@pytest.mark.parametrize(("suspend", "reason"), [(True, "Suspended"), (False, "RejectedByDruid")])
def test_supervisor_that_becomes_a_batch_is_terminated_once(ingestion: Ingesting, suspend: bool, reason: str) -> None:
    """Also if the batch is not submitted, or if Druid rejects it."""
    ingestion.kafka.make_topic(ingestion.name)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True))
    ingestion.settled()
    refused = {"type": "no such type", "spec": {"dataSchema": {"dataSource": ingestion.name}}}
    become = {"suspend": suspend, "ingestion": {"type": "native-batch", "nativeSpec": refused}}
    ingestion.live.merge(KIND, ingestion.name, {"spec": become})
    ended = ingestion.one_pass()
    assert f"terminate supervisor {ingestion.name}" in done(ended)
    assert ingestion.condition("Ready") == ("False", reason)
    assert ingestion.name not in ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")
    assert done(ingestion.one_pass()) == ()


def test_older_resource_keeps_the_supervisor(ingestion: Ingesting) -> None:
    ingestion.kafka.make_topic(ingestion.name)
    resource = ingestion.resource("kafka", kafka_spec(ingestion), suspend=True)
    ingestion.live.create(resource)
    ingestion.settled()
    # Kubernetes prints the age in whole seconds.
    time.sleep(1)
    younger = f"{ingestion.name}-younger"
    ingestion.live.create({**resource, "metadata": {"name": younger}})
    outcome = ingestion.one_pass(name=younger)
    assert outcome.report is not None
    assert [each.reason for each in outcome.report.plan.problems] == ["DuplicateSupervisor"]
    ingestion.one_pass(name=younger, absent=True)
    assert ingestion.name in ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")


def test_resources_that_swap_supervisors_terminate_neither(ingestion: Ingesting) -> None:
    other = replace(ingestion, name=f"{ingestion.name}-other")
    for each in (ingestion, other):
        each.kafka.make_topic(each.name)
        each.live.create(each.resource("kafka", kafka_spec(each), suspend=True))
        each.settled()
    for each, now in ((ingestion, other), (other, ingestion)):
        each.live.merge(KIND, each.name, {"spec": {"ingestion": {"nativeSpec": kafka_spec(now)}}})
    for each in (ingestion, other):
        assert not [title for title in done(each.one_pass()) if "terminate" in title]
        each.settled()
        assert each.condition("Ready") == ("True", "Suspended")
    assert {ingestion.name, other.name} <= set(ingestion.druid.request("GET", "/druid/indexer/v1/supervisor"))


def test_without_resource(ingestion: Ingesting) -> None:
    ingestion.kafka.make_topic(ingestion.name)
    spec = ingestion.resource("kafka", kafka_spec(ingestion), suspend=True)["spec"]
    described = {"spec": spec, "without_resource": True}
    first = ingestion.one_pass(**described)
    assert f"create supervisor {ingestion.name}" in done(first)
    while done(ingestion.one_pass(**described)):
        continue
    ended = ingestion.one_pass(**described, absent=True)
    assert done(ended) == (f"terminate supervisor {ingestion.name}", "remove ConfigMap with the applied spec")
    assert ingestion.name not in ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")
    assert done(ingestion.one_pass(**described, absent=True)) == ()


def test_wait_for_a_deleted_resource_ends_with_its_deletion(ingestion: Ingesting) -> None:
    ingestion.kafka.make_topic(ingestion.name)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True))
    ingestion.settled()
    ingestion.live.delete(KIND, ingestion.name)
    assert done(ingestion.until_reached()) == (f"terminate supervisor {ingestion.name}", "remove the finalizer")
    assert ingestion.live.find(KIND, ingestion.name) is None


def test_supervisor_of_a_resource_is_not_terminated_without_resource(ingestion: Ingesting) -> None:
    ingestion.kafka.make_topic(ingestion.name)
    resource = ingestion.resource("kafka", kafka_spec(ingestion), suspend=True)
    ingestion.live.create(resource)
    ingestion.settled()
    for absent in (True, False):
        outcome = ingestion.one_pass(spec=resource["spec"], without_resource=True, absent=absent)
        assert outcome.report is not None
        assert (done(outcome), [each.reason for each in outcome.report.problems]) == ((), ["NameConflict"])
    assert done(ingestion.one_pass()) == ()
    assert ingestion.name in ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")


def test_recreated_batch_runs_again(ingestion: Ingesting) -> None:
    """Also while Kubernetes has not removed the record of the one before, and when it does so later."""
    resource = ingestion.resource("native-batch", batch_spec(ingestion))
    ingestion.live.create(resource)
    ingestion.settled()
    record = f"{ingestion.name}-ingestion"
    ingestion.live.merge("ConfigMap", record, {"metadata": {"finalizers": ["example.org/hold"]}})
    ingestion.one_pass(absent=True)
    eventually(lambda: ingestion.live.get("ConfigMap", record)["metadata"].get("deletionTimestamp"))
    ingestion.live.create(resource)
    ingestion.settled()
    assert ingestion.times_submitted("native-batch") == 2
    ingestion.live.merge("ConfigMap", record, {"metadata": {"finalizers": None}})
    ingestion.settled()
    owner = ingestion.live.get("ConfigMap", record)["metadata"]["ownerReferences"]
    assert [each["uid"] for each in owner] == [ingestion.stored["metadata"]["uid"]]
    assert ingestion.times_submitted("native-batch") == 2
