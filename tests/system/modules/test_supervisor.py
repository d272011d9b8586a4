# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Supervisors with errors, and special cases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._operations import supervisor as ensure_supervisor
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import Supervisor, all_specs
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import DesiredSupervisor, canonical
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import (
    PartialFailure,
    UncertainState,
)
from ansible_collections.druidops.druid.tests.system.support.campaign import only_first
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct, direct_on, supervisor_name
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.stream import Stream
from ansible_collections.druidops.druid.tests.system.support.supervisor_specs import CASES, with_io
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, share_druid
from testbed.proxy import Loss
from testbed.recording_proxy import SERVER_ERROR_PAGE

__all__ = ["druid", "share_druid"]

POST = {"method": "POST", "path": r"/supervisor(\?.*)?$"}


@pytest.fixture
def direct(druid: Druid) -> Iterator[Direct]:
    with direct_on(druid, retry_timeout=5, read_timeout=5) as found:
        yield found


@pytest.fixture
def name(druid: Druid) -> Iterator[str]:
    """A name for a supervisor, which does not outlive the test."""
    with supervisor_name(druid) as name:
        yield name


@pytest.fixture
def spec(druid: Druid, name: str) -> dict[str, Any]:
    assert druid.kafka is not None
    return CASES["hardly anything"].spec(name, druid.kafka.address)


def of(result: dict[str, Any]) -> dict[str, Any]:
    """Return the ioConfig of the only supervisor in a result."""
    found: dict[str, Any] = result["supervisors"][0]["spec"]["spec"]["ioConfig"]
    return found


def test_unspecified_suspension_is_kept(direct: Direct, spec: dict[str, Any]) -> None:
    direct.supervisor(spec=spec)
    silent = {key: value for key, value in with_io(spec, taskDuration="PT3H").items() if key != "suspended"}

    result = direct.supervisor(spec=silent)

    assert result["changed"]
    assert result["supervisors"][0]["spec"]["suspended"] is True


def test_names_fields_that_druid_ignores(direct: Direct, spec: dict[str, Any]) -> None:
    misspelt = with_io(spec, taskCuont=3, inputFormat={"type": "json", "keepNulColumns": True})

    created = direct.supervisor(spec=misspelt)
    again = direct.supervisor(spec=misspelt)

    for result in (created, again):
        reported = " ".join(result["warnings"])
        assert "does not return field spec.ioConfig.taskCuont: it does not know the field" in reported
        assert "spec.ioConfig.inputFormat.keepNulColumns" in reported
    assert (created["changed"], again["changed"]) == (True, False)


def test_rejection_names_current_fields_that_were_sent_as_well(direct: Direct, spec: dict[str, Any]) -> None:
    """A user sees only what is specified: one field, which is valid without the others."""
    scaled = {"enableTaskAutoScaler": True, "taskCountMin": 2, "taskCountMax": 4}
    direct.supervisor(spec=with_io(spec, autoScalerConfig=scaled))
    fewer = {"type": "kafka", "spec": {"dataSchema": {"dataSource": spec["spec"]["dataSchema"]["dataSource"]}}}
    fewer["spec"]["ioConfig"] = {"autoScalerConfig": {"taskCountMax": 1}}

    with pytest.raises(PartialFailure, match=r"400 .* taskCountMax can't lower than taskCountMin") as no:
        direct.supervisor(spec=fewer)

    assert "not specified (spec.ioConfig.autoScalerConfig.taskCountMin) keeps its value" in str(no.value)
    assert "To remove a field, set it to null." in str(no.value)
    scaling = fewer["spec"]["ioConfig"]["autoScalerConfig"]
    # both limits are specified: nothing is to be said about one that is not
    scaling.update(taskCountMin=2)
    with pytest.raises(PartialFailure, match=r"400 .* taskCountMax can't lower than taskCountMin") as no:
        direct.supervisor(spec=fewer)
    assert "not specified" not in str(no.value)
    # with it, Druid accepts the same
    scaling.update(taskCountMin=1)
    assert direct.supervisor(spec=fewer)["changed"]


def test_other_topic_is_rejected(direct: Direct, spec: dict[str, Any]) -> None:
    direct.supervisor(spec=spec)

    with pytest.raises(
        PartialFailure, match=r"topic \('other'\): the supervisor reads .*; offsets of one stream"
    ) as no:
        direct.supervisor(spec=with_io(spec, topic="other"))

    assert direct.writes == []
    assert no.value.result["changed"] is False


def test_autoscaler_controls_the_number_of_tasks(direct: Direct, name: str) -> None:
    """Another number is no change: it would revert the decision of the autoscaler."""
    assert direct.druid.kafka is not None
    scaled = CASES["an autoscaler"].spec(name, direct.druid.kafka.address)
    direct.supervisor(spec=scaled)

    result = direct.supervisor(spec=with_io(scaled, taskCount=4))

    assert (result["changed"], direct.writes, of(result)["taskCount"]) == (False, [], 1)


def test_results_contain_no_secrets(direct: Direct, spec: dict[str, Any]) -> None:
    jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="hunter-2";'
    kafka = spec["spec"]["ioConfig"]["consumerProperties"]
    secret = with_io(spec, consumerProperties={**kafka, "ssl.key.password": "hunter-1", "sasl.jaas.config": jaas})

    created = direct.supervisor(spec=secret)
    other = direct.supervisor(spec=with_io(secret, consumerProperties={**kafka, "ssl.key.password": "hunter-3"}))
    removed = direct.supervisor(spec=secret, state="absent", check_mode=True)

    for result in (created, other, removed):
        assert result["changed"]
        assert "hunter" not in str(result)
    stored = direct.druid.request("GET", f"/druid/indexer/v1/supervisor/{created['supervisors'][0]['id']}")
    assert stored["spec"]["ioConfig"]["consumerProperties"]["ssl.key.password"] == "hunter-3"


def test_many_are_read_at_once_and_a_failure_stops_no_other(direct: Direct, name: str, spec: dict[str, Any]) -> None:
    broken = with_io({**spec, "spec": {**spec["spec"], "dataSchema": {"dataSource": f"{name}_broken"}}}, topic=None)
    absent = {"id": f"{name}_gone", "state": "absent"}

    with pytest.raises(PartialFailure) as failed:
        direct.supervisor(supervisors=[{"spec": broken}, absent, {"spec": spec}])

    assert str(failed.value).startswith("supervisors[0]: ")
    assert "400" in str(failed.value)
    entries = failed.value.result["supervisors"]
    assert [each["id"] for each in entries] == [f"{name}_broken", f"{name}_gone", name]
    assert [each.get("failed", False) for each in entries] == [True, False, False]
    assert str(failed.value) == f"supervisors[0]: {entries[0]['msg']}"
    direct.supervisor(supervisors=[{"spec": spec}])
    assert [str(each) for each in direct.proxy.exchanges] == ["GET /druid/indexer/v1/supervisor?full=true: 200"]


def test_failure_without_a_change_is_reported_as_such(direct: Direct, spec: dict[str, Any]) -> None:
    direct.supervisor(spec=spec)
    direct.proxy.fail_next(SERVER_ERROR_PAGE, **POST)

    with pytest.raises(PartialFailure, match=r"500 .*made to fail.* Current state of supervisor '\w+': unchanged\."):
        direct.supervisor(spec=with_io(spec, taskDuration="PT2H"))

    assert not direct.supervisor(spec=spec)["changed"]


@pytest.mark.parametrize("loss", only_first(1, [Loss.LOST, Loss.CUT], "the same for a response that is lost"))
def test_update_is_confirmed_after_a_lost_response(direct: Direct, spec: dict[str, Any], loss: Loss) -> None:
    direct.supervisor(spec=spec)
    direct.proxy.fail_next(loss, **POST)

    result = direct.supervisor(spec=with_io(spec, taskDuration="PT2H"))

    assert (result["changed"], of(result)["taskDuration"]) == (True, "PT7200S")
    assert "The change took effect despite this error" in result["warnings"][0]
    assert direct.proxy.unmet == 0


@pytest.mark.parametrize("loss", only_first(1, [Loss.LOST, Loss.CUT], "the same for a response that is lost"))
def test_termination_is_confirmed_after_a_lost_response(direct: Direct, name: str, spec: Any, loss: Loss) -> None:
    direct.supervisor(spec=spec)
    direct.proxy.fail_next(loss, method="POST", path="/terminate")

    assert direct.supervisor(id=name, state="absent")["changed"]

    assert direct.proxy.unmet == 0
    assert name not in direct.druid.request("GET", "/druid/indexer/v1/supervisor")


def test_supervisor_lost_by_a_failed_update_is_restored(direct: Direct, name: str, spec: dict[str, Any]) -> None:
    """Druid stops the old one first: if it cannot create the new one, there is none. The test terminates it itself."""
    direct.supervisor(spec=spec)
    supervisor = Supervisor(direct.client, DesiredSupervisor(name, canonical(with_io(spec, taskDuration="PT2H"))))
    before = supervisor.read()
    after = supervisor.merge(before)
    direct.druid.request("POST", f"/druid/indexer/v1/supervisor/{name}/terminate")
    direct.proxy.fail_next(SERVER_ERROR_PAGE, **POST)

    with pytest.raises(UncertainState, match=r"was lost during the update\. Its previous spec was restored"):
        supervisor.write(before, after)

    assert supervisor.read() == before


def test_lost_supervisor_is_in_the_result(direct: Direct, name: str, spec: dict[str, Any], monkeypatch: Any) -> None:
    """The first failure removes it, the second prevents its restoration."""
    direct.supervisor(spec=spec)

    def lose(self: Supervisor, _before: Any, _after: Any) -> None:
        direct.druid.request("POST", f"/druid/indexer/v1/supervisor/{name}/terminate")
        direct.proxy.fail_next(SERVER_ERROR_PAGE, **POST)
        direct.proxy.fail_next(SERVER_ERROR_PAGE, **POST)
        self._post(spec)

    monkeypatch.setattr(Supervisor, "_send", lose)
    with pytest.raises(PartialFailure, match=r"could not be restored: .*/history") as failed:
        direct.supervisor(spec=with_io(spec, taskDuration="PT2H"))

    assert direct.proxy.unmet == 0
    assert failed.value.result["changed"]
    assert failed.value.result["diff"][0]["before"]["spec"]["ioConfig"]["taskDuration"] == "PT3600S"


def test_outdated_state_is_read_again_before_a_write(
    direct: Direct, name: str, spec: dict[str, Any], monkeypatch: Any
) -> None:
    silent = {key: value for key, value in spec.items() if key != "suspended"}
    direct.supervisor(spec={**spec, "suspended": False})
    old = all_specs(direct.client)
    direct.druid.request("POST", f"/druid/indexer/v1/supervisor/{name}/suspend")
    monkeypatch.setattr(ensure_supervisor, "all_specs", lambda _client: old)

    result = direct.supervisor(supervisors=[{"spec": with_io(silent, taskDuration="PT2H")}])

    assert result["changed"]
    assert result["supervisors"][0]["spec"]["suspended"] is True


def test_offsets_are_reset_only_on_request(direct: Direct, name: str, spec: dict[str, Any]) -> None:
    direct.supervisor(spec=spec)
    assert direct.supervisor(id=name, reset=True, check_mode=True)["changed"]
    assert direct.writes == []

    assert direct.supervisor(id=name, reset=True)["changed"]
    assert direct.writes == [f"POST /druid/indexer/v1/supervisor/{name}/reset"]
    assert direct.supervisor(id=name, reset_offsets={"0": 5})["changed"]
    assert direct.writes == [f"POST /druid/indexer/v1/supervisor/{name}/resetOffsets"]
    with pytest.raises(PartialFailure, match="offsets cannot be reset with state: absent"):
        direct.supervisor(id=name, reset=True, state="absent")
    assert direct.writes == []


def test_each_of_many_has_its_own_reset_and_all_are_waited_for(direct: Direct, name: str, spec: dict[str, Any]) -> None:
    others = [f"{name}_{number}" for number in (1, 2)]
    specs = [{**spec, "spec": {**spec["spec"], "dataSchema": {"dataSource": other}}} for other in others]
    items = [
        {"spec": json.dumps(spec), "reset": True},
        {"spec": specs[0], "reset_offsets": "0: 5"},
        {"spec": specs[1]},
        {"id": f"{name}_gone", "state": "absent"},
    ]

    result = direct.supervisor(supervisors=items, wait=True)

    entries = result["supervisors"]
    assert [(each["id"], each.get("reset", False)) for each in entries] == [
        (name, True),
        (others[0], True),
        (others[1], False),
        (f"{name}_gone", False),
    ]
    assert [each["status"]["payload"]["suspended"] for each in entries[:3]] == [True] * 3
    assert "status" not in entries[3]
    assert [path.rpartition("/")[2] for path in direct.writes if "?" not in path] == ["reset", "resetOffsets"]
    assert "id" not in result
    single = direct.supervisor(id=name, wait=True)
    assert single["supervisors"][0].items() <= single.items()


def test_offsets_of_a_partition_that_does_not_exist(druid: Druid) -> None:
    """Druid accepts them, and ignores them."""
    with direct_on(druid) as direct:
        stream = Stream(direct)
        stream.produce(1)
        created = direct.supervisor(spec=stream.spec(), reset_offsets={"0": 0}, check_mode=True)
        assert "does not report the partitions of its stream (yet)" in created["warnings"][0]
        direct.supervisor(spec=stream.spec(), wait=True, wait_for="payload.partitions")

        for check_mode in (True, False):
            with pytest.raises(PartialFailure) as refused:
                direct.supervisor(id=stream.name, reset_offsets={"0": 0, "7": 5}, check_mode=check_mode)

            assert str(refused.value) == (
                'reset_offsets ({"0": 0, "7": 5}): the stream has no partition 7. Its partitions: 0'
            )
            assert direct.writes == []
            assert refused.value.result["changed"] is False
        assert direct.supervisor(id=stream.name, reset_offsets={"0": 0})["warnings"] == []
        direct.supervisor(id=stream.name, state="absent")
        druid.remove_datasource(stream.name)


def test_wait_timeout_reports_the_state(direct: Direct, name: str, spec: dict[str, Any]) -> None:
    unreachable = {"bootstrap.servers": "127.0.0.1:1", "default.api.timeout.ms": 2000, "request.timeout.ms": 1000}
    dead = {**with_io(spec, consumerProperties=unreachable, period="PT1S", startDelay="PT0S"), "suspended": False}

    direct.supervisor(spec=dead)
    status, at_last = f"/druid/indexer/v1/supervisor/{name}/status", "UNABLE_TO_CONNECT_TO_STREAM"
    # Druid reports it after several attempts
    eventually(lambda: direct.client.get(status)["payload"]["detailedState"] == at_last)
    with pytest.raises(PartialFailure, match=rf"Timed out after 1 s waiting for .* Last status: {at_last}"):
        direct.supervisor(spec=dead, wait=True, wait_timeout=1)


def test_scheduled_batch_requires_an_id(direct: Direct) -> None:
    with pytest.raises(PartialFailure, match=r"id: a supervisor of type scheduled_batch requires an id"):
        direct.supervisor(spec={"type": "scheduled_batch", "spec": {}, "schedulerConfig": {}})

    assert direct.proxy.exchanges == []
