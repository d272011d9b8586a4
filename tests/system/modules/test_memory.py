# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
What Druid makes of a supervisor is remembered: it causes no second write, and hides no change by another client.

A proxy makes a Druid of a later release, which the collection does not know: it has new fields, one of which it omits
at its default, omits and fills in other defaults than before, and has a new class.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._operations.compaction import compaction_info
from ansible_collections.druidops.druid.plugins.module_utils._operations.supervisor import supervisor_info
from ansible_collections.druidops.druid.plugins.module_utils._resources.compaction import Compaction
from ansible_collections.druidops.druid.plugins.module_utils._spec.memory import KEY
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import PartialFailure
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct, direct_on, supervisor_name
from ansible_collections.druidops.druid.tests.system.support.supervisor_specs import CASES, with_io
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, druid_33, share_druid
from testbed.other_release import other_release
from testbed.proxy import Answer, Forward, Loss, Request, Upstream, proxy
from testbed.recording_proxy import SERVER_ERROR_PAGE

__all__ = ["druid", "druid_33", "share_druid"]

SUPERVISORS = "/druid/indexer/v1/supervisor"
FORMAT = {"type": "quicksilver", "speed": 3}


@contextmanager
def druid_of_later(druid: Druid) -> Iterator[Upstream]:
    """Put such a release over a Druid 33. It finds what was sent by the marker of the write."""
    sent: dict[str, Any] = {}

    def go(request: Request, forward: Forward) -> Answer | Loss:
        if request.method == "POST" and request.path.partition("?")[0] == SUPERVISORS:
            spec = json.loads(request.body)
            sent[spec["context"][KEY]] = spec
            known = with_parts(spec, inputFormat={"type": "json"})
            return forward(Request("POST", request.path, request.content_type, json.dumps(known).encode()))
        answer = forward(request)
        if request.method != "GET" or not isinstance(answer, Answer) or answer.status != 200:
            return answer
        document = json.loads(answer.body)
        return Answer(200, (("Content-Type", "application/json"),), json.dumps(returned(document)).encode())

    def returned(value: Any) -> Any:
        if isinstance(value, dict) and value.get("type") == "kafka" and KEY in (value.get("context") or {}):
            return of_later(value, sent[value["context"][KEY]])
        if isinstance(value, dict):
            return {name: returned(each) for name, each in value.items()}
        return [returned(each) for each in value] if isinstance(value, list) else value

    with other_release("38.0.0", druid.upstream) as upstream, proxy(upstream, lambda _request: go) as url:
        yield Upstream(url)


def with_parts(spec: dict[str, Any], **io: Any) -> dict[str, Any]:
    """Return the same with other values in the ioConfig, also in the copy of it that Druid returns at the top."""
    changed = with_io(spec, **io)
    return {**changed, "ioConfig": changed["spec"]["ioConfig"]} if "ioConfig" in spec else changed


def of_later(spec: dict[str, Any], submitted: dict[str, Any]) -> dict[str, Any]:
    io, specified = dict(spec["spec"]["ioConfig"]), submitted["spec"]["ioConfig"]
    if io["taskCount"] == 1:
        del io["taskCount"]
    io["fillRate"] = "fast"
    if specified.get("newOption", 7) != 7:
        io["newOption"] = specified["newOption"]
    if specified["inputFormat"]["type"] == FORMAT["type"]:
        io["inputFormat"] = {
            "mode": "auto",
            **specified["inputFormat"],
            "speed": f"{specified['inputFormat']['speed']}x",
        }
    return {**spec, "ioConfig": io, "spec": {**spec["spec"], "ioConfig": io}}


@pytest.fixture
def name(druid_33: Druid) -> Iterator[str]:
    with supervisor_name(druid_33) as name:
        yield name


@pytest.fixture
def spec(druid_33: Druid, name: str) -> dict[str, Any]:
    assert druid_33.kafka is not None
    return CASES["hardly anything"].spec(name, druid_33.kafka.address)


@pytest.fixture
def direct(druid_33: Druid) -> Iterator[Direct]:
    with direct_on(druid_33, retry_timeout=0) as direct:
        yield direct


def edit(direct: Direct, name: str, **io: Any) -> None:
    """Change the supervisor as the web console does: read, change, send."""
    spec = direct.client.get(f"{SUPERVISORS}/{name}")
    direct.client.post(SUPERVISORS, with_parts(spec, **io))


def io_of(result: dict[str, Any], side: str) -> dict[str, Any]:
    found: dict[str, Any] = result["diff"][0][side]["spec"]["ioConfig"]
    return found


def assert_unchanged(direct: Direct, spec: dict[str, Any], *warnings: str) -> None:
    for check_mode in (True, False):
        result = direct.supervisor(spec=spec, check_mode=check_mode)
        assert (result["changed"], direct.writes) == (False, [])
        assert all(each in " ".join(result["warnings"]) for each in warnings)


def test_a_release_that_of_a_later_version(druid_33: Druid, name: str, spec: dict[str, Any]) -> None:
    # a new class, the default of a new field, a default that is now omitted, and a field that no release has
    first = with_io(spec, inputFormat=FORMAT, newOption=7, taskCount=1, taskCuont=3)
    second = with_io(first, newOption=8, taskCount=2)
    with druid_of_later(druid_33) as upstream, direct_on(druid_33, upstream=upstream) as direct:
        for applied in (first, second, first):
            assert direct.supervisor(spec=applied)["changed"]
            assert len(direct.writes) == 1
            assert_unchanged(direct, applied, "spec.ioConfig.taskCuont", "speed")
        assert "newOption" in " ".join(direct.supervisor(spec=first)["warnings"])
        rows = direct.history(name)
        edit(direct, name, taskCount=5)
        assert io_of(direct.supervisor(spec=first), "before")["taskCount"] == 5
        assert_unchanged(direct, first, "spec.ioConfig.taskCuont")
        assert direct.history(name) == rows + 2


def test_drift_is_reverted_and_what_druid_drops_is_sent_again(direct: Direct, name: str, spec: dict[str, Any]) -> None:
    specified = with_io(spec, taskCuont=3, useEarliestOffset=True)
    direct.supervisor(spec=specified)
    assert_unchanged(direct, specified, "taskCuont")
    for again in range(2):
        edit(direct, name, useEarliestOffset=False)
        result = direct.supervisor(spec=specified)
        assert (io_of(result, "before")["useEarliestOffset"], io_of(result, "after")["useEarliestOffset"]) == (
            False,
            True,
        )
        assert io_of(result, "after")["taskCuont"] == 3
        direct.proxy.forget()
        assert_unchanged(direct, specified, "taskCuont")
        reads = [str(each) for each in direct.proxy.exchanges if each.path.endswith("/history")]
        # what the history has proven is in the marker of the next write
        assert (again, reads) == (again, [])


def test_two_writers_of_the_same_content_cause_no_write(direct: Direct, spec: dict[str, Any]) -> None:
    direct.supervisor(spec=with_io(spec, taskCuont=3, taskCount=1, useEarliestOffset=True))
    # as a template or Kubernetes has it
    assert_unchanged(direct, with_io(spec, taskCuont="3", taskCount=1.0, useEarliestOffset="true"), "taskCuont")


def test_what_a_release_dropped_is_sent_once_to_a_newer_one(
    druid_33: Druid, direct: Direct, spec: dict[str, Any]
) -> None:
    specified = with_io(spec, taskCuont=3)
    direct.supervisor(spec=specified)
    with other_release("34.0.0", druid_33.upstream) as upstream, direct_on(druid_33, upstream=upstream) as newer:
        result = newer.supervisor(spec=specified)
        assert (result["changed"], io_of(result, "after")["taskCuont"]) == (True, 3)
        assert_unchanged(newer, specified, "taskCuont")
    # also while some servers are older
    assert_unchanged(direct, specified, "taskCuont")


def test_others_that_keep_what_is_specified_cause_no_write(direct: Direct, name: str, spec: dict[str, Any]) -> None:
    specified = {key: value for key, value in with_io(spec, taskCuont=3).items() if key != "suspended"}
    direct.supervisor(spec=specified, suspended=True)
    edit(direct, name, taskCount=4)
    direct.client.post(f"{SUPERVISORS}/{name}/resume")
    assert_unchanged(direct, specified, "taskCuont")
    result = direct.supervisor(spec=specified, suspended=True)
    assert (result["changed"], direct.writes) == (True, [f"POST {SUPERVISORS}/{name}/suspend"])
    assert_unchanged(direct, specified, "taskCuont")
    # a tombstone is in the history then
    direct.client.post(f"{SUPERVISORS}/{name}/terminate")
    assert direct.supervisor(spec=specified, suspended=True)["changed"]
    assert_unchanged(direct, specified, "taskCuont")


def test_a_supervisor_of_others_is_submitted_at_most_once(direct: Direct, name: str, spec: dict[str, Any]) -> None:
    direct.client.post(SUPERVISORS, spec)
    # nothing differs: it gets no marker
    assert_unchanged(direct, spec)
    assert direct.client.get(f"{SUPERVISORS}/{name}")["context"] is None
    # nor if a default is specified that Druid is known to omit
    omitted = with_io(spec, inputFormat={"type": "json", "assumeNewlineDelimited": False})
    assert_unchanged(direct, omitted)
    resumed = direct.supervisor(spec={**omitted, "suspended": False})
    assert (resumed["changed"], direct.writes) == (True, [f"POST {SUPERVISORS}/{name}/resume"])
    direct.supervisor(id=name, suspended=True)
    unknown = with_io(omitted, taskCuont=3)
    result = direct.supervisor(spec=unknown)
    assert (result["changed"], len(direct.writes)) == (True, 1)
    assert_unchanged(direct, unknown)


def test_what_is_specified_no_longer_is_removed(direct: Direct, name: str, spec: dict[str, Any]) -> None:
    specified = with_io(spec, useEarliestOffset=True, lateMessageRejectionPeriod="P1D")
    direct.supervisor(spec={**specified, "context": {"priority": 5, "useConcurrentLocks": True}})
    edit(direct, name, period="PT60S")
    for check_mode in (True, False):
        result = direct.supervisor(spec={**spec, "context": {"priority": 5}}, check_mode=check_mode)
        assert result["changed"]
        removed = {"spec.ioConfig.lateMessageRejectionPeriod", "spec.ioConfig.useEarliestOffset"}
        assert {*result["warnings"][0].split(": ")[-1].rstrip(".").split(", ")} == {
            *removed,
            "context.useConcurrentLocks",
        }
    stored = direct.client.get(f"{SUPERVISORS}/{name}")
    io = stored["spec"]["ioConfig"]
    # that of others stays
    found = (io["useEarliestOffset"], io["lateMessageRejectionPeriod"], io["period"])
    assert found == (False, None, "PT60S")
    assert {key for key in stored["context"] if key != KEY} == {"priority"}
    assert_unchanged(direct, {**spec, "context": {"priority": 5}})


def test_a_partial_update_removes_nothing(direct: Direct, name: str, spec: dict[str, Any]) -> None:
    direct.supervisor(spec=with_io(spec, useEarliestOffset=True))
    partial = {"type": "kafka", "spec": {"dataSchema": {"dataSource": name}, "ioConfig": {"taskCount": 3}}}
    updated = direct.supervisor(spec=partial)
    assert updated["changed"]
    io = updated["supervisors"][0]["spec"]["spec"]["ioConfig"]
    assert (io["taskCount"], io["useEarliestOffset"], io["topic"]) == (3, True, name)
    assert_unchanged(direct, partial)
    # what both have specified is known
    assert direct.supervisor(spec=spec)["changed"]
    io = direct.client.get(f"{SUPERVISORS}/{name}")["spec"]["ioConfig"]
    assert (io["taskCount"], io["useEarliestOffset"]) == (1, False)
    assert_unchanged(direct, spec)


def test_no_result_has_the_marker(direct: Direct, name: str, spec: dict[str, Any]) -> None:
    specified = {**spec, "context": {"priority": 5}}
    for result in (direct.supervisor(spec=specified), direct.supervisor(spec=specified)):
        assert KEY not in json.dumps(result)
        assert result["supervisors"][0]["spec"]["context"] == {"priority": 5}
    assert KEY in direct.client.get(f"{SUPERVISORS}/{name}")["context"]
    asked = {"id": name, "datasource": None, "state": None, "status": True, "history": 3}
    assert KEY not in json.dumps(supervisor_info(direct.client, asked))
    # one that is copied with its marker is another one
    stored = direct.client.get(f"{SUPERVISORS}/{name}")
    assert_unchanged(direct, stored)
    # what a user has there is not sent
    assert_unchanged(direct, {**spec, "context": {"priority": 5, KEY: "mine"}}, "context.druidops is not sent")


def test_a_history_that_cannot_be_read_causes_no_write(direct: Direct, spec: dict[str, Any]) -> None:
    specified = with_io(spec, taskCuont=3)
    direct.supervisor(spec=specified)
    direct.proxy.fail_next(SERVER_ERROR_PAGE, path="/history")
    result = direct.supervisor(spec=specified)
    assert (result["changed"], direct.proxy.unmet) == (False, 0)
    assert "history of it cannot be read" in " ".join(result["warnings"])
    assert direct.supervisor(spec=with_io(specified, taskCount=2))["changed"]


@contextmanager
def with_count(upstream: Upstream) -> Iterator[Upstream]:
    """Put a Druid 37, with the parameter ``count`` of the history, which Druid has since 35, over an older one."""

    def go(request: Request, forward: Forward) -> Answer | Loss:
        answer = forward(request)
        _path, _equals, count = request.path.partition("/history?count=")
        if not (count and isinstance(answer, Answer)):
            return answer
        return Answer(200, answer.headers, json.dumps(json.loads(answer.body)[: int(count)]).encode())

    with other_release("37.0.0", upstream) as inner, proxy(inner, lambda _request: go) as url:
        yield Upstream(url)


@pytest.mark.parametrize("has_count", [True, False])
def test_a_long_history_is_read_in_part_where_that_is_possible(
    druid_33: Druid, name: str, spec: dict[str, Any], has_count: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor._ROWS", 2)
    specified = with_io(spec, taskCuont=3)
    over = with_count if has_count else nullcontext
    with over(druid_33.upstream) as upstream, direct_on(druid_33, upstream=upstream) as direct:

        def reads() -> list[str]:
            assert_unchanged(direct, specified, "taskCuont")
            return [each.path.rpartition("/")[2] for each in direct.proxy.exchanges if "/history" in each.path]

        for count in (1, 2):
            direct.supervisor(spec=with_io(specified, taskCount=count))
        specified = with_io(specified, taskCount=2)
        direct.supervisor(spec=specified)
        edit(direct, name, period="PT40S")
        # both rows are of the last write, so that there may be more
        assert reads() == ["history?count=2", "history"][: 2 if has_count else 1]
        direct.supervisor(spec=with_io(specified, taskDuration="PT2H"))
        specified = with_io(specified, taskDuration="PT2H")
        assert reads() == ["history?count=2"]


def test_a_lost_response_is_recognized_by_the_marker(direct: Direct, spec: dict[str, Any]) -> None:
    specified = with_io(spec, taskCuont=3)
    direct.proxy.fail_next(Loss.CUT, method="POST")
    result = direct.supervisor(spec=specified)
    assert "The change took effect despite this error" in " ".join(result["warnings"])
    assert_unchanged(direct, specified)


def test_strict_fails_in_the_run_that_sends_the_field(direct: Direct, name: str, spec: dict[str, Any]) -> None:
    specified = with_io(spec, taskCuont=3, useEarliestOffset=True)
    with pytest.raises(PartialFailure, match=r"taskCuont"):
        direct.supervisor(spec=specified, unknown_fields="fail")
    assert len(direct.writes) == 1
    edit(direct, name, useEarliestOffset=False)
    for is_due in (True, False):
        result = direct.supervisor(spec=specified, unknown_fields="fail")
        assert (result["changed"], len(direct.writes), "taskCuont" in " ".join(result["warnings"])) == (
            is_due,
            is_due,
            True,
        )


COMPACTION = "/druid/coordinator/v1/config/compaction"


def test_a_compaction_remembers_what_druid_makes_of_it(direct: Direct, name: str) -> None:
    config = {"skipOffsetFromLatest": "PT1H", "taskPriorty": 3, "maxRowsPerSegment": 1000, "taskContext": {"a": 1}}
    created = direct.compaction(datasource=name, config=config)
    # the second one changes the context only, which compacts nothing again
    assert (created["changed"], len(direct.writes)) == (True, 2)
    for result in (created, direct.compaction(datasource=name, config=config)):
        assert "taskPriorty" in " ".join(result["warnings"])
        assert (result["config"]["taskContext"], KEY in json.dumps(result)) == ({"a": 1}, False)
    assert direct.writes == []
    asked = {"datasource": name, "status": False}
    assert [each["config"]["taskContext"] for each in compaction_info(direct.client, asked)] == [{"a": 1}]

    # another client changes what is specified, and what is not
    stored = direct.client.get(f"{COMPACTION}/{name}")
    assert KEY in stored["taskContext"]
    direct.client.post(COMPACTION, {**stored, "skipOffsetFromLatest": "PT2H", "taskPriority": 7})
    reverted = direct.compaction(datasource=name, config=config)
    assert reverted["changed"]
    found = reverted["config"]
    assert (found["skipOffsetFromLatest"], found["taskPriority"]) == ("PT1H", 7)
    assert not direct.compaction(datasource=name, config=config)["changed"]
    # an empty document never removes anything
    assert not direct.compaction(datasource=name)["changed"]

    # what is specified no longer is removed
    shorter = {"skipOffsetFromLatest": "PT1H"}
    found = direct.compaction(datasource=name, config=shorter)["config"]
    assert (found["maxRowsPerSegment"], found["taskContext"], found["taskPriority"]) == (None, None, 7)
    assert not direct.compaction(datasource=name, config=shorter)["changed"]
    assert direct.compaction(datasource=name, state="absent")["changed"]


class Interrupted(Compaction):
    """A compaction that another client changes immediately after the first write."""

    def _send(self, before: Any, after: Any) -> None:
        super()._send(before, after)
        if self._left_over == "":
            stored = self._client.get(f"{COMPACTION}/{self._id}")
            self._client.post(COMPACTION, {**stored, "taskPriority": 7})


def test_the_second_write_of_a_compaction_keeps_what_others_change(direct: Direct, name: str) -> None:
    resource = Interrupted(direct.client, name, {"taskPriorty": 3})
    resource.write(None, resource.merge(resource.read()))
    assert direct.client.get(f"{COMPACTION}/{name}")["taskPriority"] == 7
    assert not direct.compaction(datasource=name, config={"taskPriorty": 3})["changed"]
    assert direct.compaction(datasource=name, state="absent")["changed"]


def test_a_supervisor_of_compaction_has_the_marker_in_the_context_of_its_tasks(direct: Direct, name: str) -> None:
    spec = {"type": "autocompact", "spec": {"dataSource": name, "taskPriorty": 3}, "suspended": True}
    direct.supervisor(spec=spec)
    assert_unchanged(direct, spec, "taskPriorty")
    stored = direct.client.get(f"{SUPERVISORS}/autocompact__{name}")
    assert [*stored["spec"]["taskContext"]] == [KEY]
