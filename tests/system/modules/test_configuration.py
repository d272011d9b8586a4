# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compaction, retention rules and dynamic configurations: before and since Druid 33, and with errors."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._operations import compaction as ensure
from ansible_collections.druidops.druid.plugins.module_utils._operations.compaction import compaction_info as compacted
from ansible_collections.druidops.druid.plugins.module_utils._operations.dynamic_config import ensure_configs
from ansible_collections.druidops.druid.plugins.module_utils._operations.retention_rules import (
    ensure_rules,
    retention_rules_info,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.compaction import Compaction, all_compaction
from ansible_collections.druidops.druid.plugins.module_utils._resources.dynamic_config import DynamicConfig
from ansible_collections.druidops.druid.plugins.module_utils._resources.retention_rules import RetentionRules
from ansible_collections.druidops.druid.plugins.module_utils._spec.dynamic_config import COORDINATOR
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import (
    DruidError,
    PartialFailure,
    UncertainState,
)
from ansible_collections.druidops.druid.tests.system.support.campaign import only_first
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct, direct_on
from testbed.druid.druid import Druid
from testbed.druid_plugin import Share, druid, druid_27, druid_33, share_druid
from testbed.proxy import Answer, Forward, Loss, Request
from testbed.recording_proxy import SERVER_ERROR_PAGE

__all__ = ["druid", "druid_27", "druid_33", "share_druid"]

# What they change there is once in a Druid.
pytestmark = pytest.mark.xdist_group("cluster-wide")

Result = dict[str, Any]
_UNSPECIFIED = {
    "author": None,
    "unknown_fields": "warn",
    "comment": None,
    "state": "present",
    "datasource": None,
    "compactions": None,
    "retention_rules": None,
    "config": None,
    **dict.fromkeys(("coordinator", "overlord", "kubernetes_task_runner", "broker", "compaction")),
}


@pytest.fixture(params=only_first(1, ["druid", "druid_27"], "the same on one release"))
def direct(request: pytest.FixtureRequest, share_druid: Share) -> Iterator[Direct]:
    del share_druid  # named, so that it is seen that a Druid is needed (conftest.py)
    with direct_on(request.getfixturevalue(request.param), retry_timeout=2, read_timeout=20) as found:
        yield found


@pytest.fixture
def newest(druid: Druid) -> Iterator[Direct]:
    with direct_on(druid, retry_timeout=2, read_timeout=20) as found:
        yield found


@pytest.fixture
def name() -> str:
    return f"t{secrets.token_hex(4)}"


def done(direct: Direct, work: Callable[..., Result], check_mode: bool = False, **params: Any) -> Result:
    """Return the result of what a module does."""
    direct.proxy.forget()
    return work(direct.client, {**_UNSPECIFIED, **params}, check_mode=check_mode)


def compaction(direct: Direct, **params: Any) -> Result:
    return done(direct, ensure.ensure_compaction, **params)


class Setting(NamedTuple):
    """A setting that a module can change to a number, and reset."""

    change: Callable[[Direct, str, int], Result]
    back: Callable[[Direct, str], Result]


def _period(days: int) -> list[Any]:
    return [{"type": "loadByPeriod", "period": f"P{days}D"}, {"type": "dropForever"}]


def _workers(name: str, number: int) -> Any:
    affinity = {"affinity": {name: [f"{name}-{number}:1", f"{name}:1"]}}
    return {"selectStrategy": {"type": "equalDistributionWithAffinity", "affinityConfig": affinity}}


SETTINGS = {
    "compaction": Setting(
        lambda direct, name, number: compaction(direct, datasource=name, config={"taskPriority": number}),
        lambda direct, name: compaction(direct, datasource=name, state="absent"),
    ),
    "retention rules": Setting(
        lambda direct, name, number: done(direct, ensure_rules, datasource=name, rules=_period(number)),
        lambda direct, name: done(direct, ensure_rules, datasource=name, state="absent"),
    ),
    "coordinator": Setting(
        lambda direct, _name, number: done(direct, ensure_configs, coordinator={"maxSegmentsToMove": number}),
        lambda direct, _name: done(direct, ensure_configs, coordinator={"maxSegmentsToMove": 100}),
    ),
    "overlord": Setting(
        lambda direct, name, number: done(direct, ensure_configs, overlord=_workers(name, number)),
        lambda direct, _name: done(direct, ensure_configs, overlord={"selectStrategy": None}),
    ),
    "task slots": Setting(
        lambda direct, _name, number: done(direct, ensure_configs, compaction={"maxCompactionTaskSlots": number}),
        lambda direct, _name: done(direct, ensure_configs, compaction={"maxCompactionTaskSlots": 2147483647}),
    ),
}


@pytest.fixture(params=SETTINGS)
def setting(request: pytest.FixtureRequest, direct: Direct, name: str) -> Iterator[Setting]:
    """One of them, at the number 7."""
    found: Setting = SETTINGS[request.param]
    assert found.change(direct, name, 7)["changed"]
    yield found
    direct.proxy.clear()
    assert found.back(direct, name)["changed"]
    assert (found.back(direct, name)["changed"], direct.writes) == (False, [])


def test_changed_once(direct: Direct, name: str, setting: Setting) -> None:
    assert (setting.change(direct, name, 7)["changed"], direct.writes) == (False, [])
    result = setting.change(direct, name, 8)
    assert (result["changed"], len(direct.writes), result["warnings"]) == (True, 1, [])
    assert (setting.change(direct, name, 8)["changed"], direct.writes) == (False, [])


def test_failure_without_a_change_is_reported_as_such(direct: Direct, name: str, setting: Setting) -> None:
    direct.proxy.fail_next(SERVER_ERROR_PAGE, method="POST")

    with pytest.raises(DruidError, match=r"500 .*made to fail.* Current state of .*: unchanged\."):
        setting.change(direct, name, 8)

    assert not setting.change(direct, name, 7)["changed"]


def test_failure_after_the_change_is_a_change(direct: Direct, name: str, setting: Setting) -> None:
    def fail_afterwards(request: Request, forward: Forward) -> Answer | Loss:
        forward(request)
        return SERVER_ERROR_PAGE

    direct.proxy.fail_next(fail_afterwards, method="POST")

    result = setting.change(direct, name, 8)

    assert result["changed"]
    assert "The change took effect despite this error" in result["warnings"][0]


def test_lost_response_does_no_harm(direct: Direct, name: str, setting: Setting) -> None:
    direct.proxy.fail_next(Loss.CUT, method="POST")

    assert setting.change(direct, name, 8)["changed"]

    assert direct.proxy.unmet == 0
    assert not setting.change(direct, name, 8)["changed"]


def test_unreadable_current_state_is_reported(newest: Direct, name: str) -> None:
    newest.proxy.fail_next(SERVER_ERROR_PAGE, method="POST")
    rules = RetentionRules(newest.client, name, _period(7))
    before = rules.read()
    after = rules.merge(before)
    newest.proxy.fail_next(SERVER_ERROR_PAGE, method="GET", path="/rules/")

    with pytest.raises(UncertainState, match=r"The current state could not be read: GET .* returned 500"):
        rules.write(before, after)


def test_unknown_fields_are_reported_and_sent_once(direct: Direct, name: str) -> None:
    rules = [{"type": "loadForever", "colour": "red"}]
    workers = {"selectStrategy": {**_workers(name, 7)["selectStrategy"], "strng": True}}
    calls: dict[str, Callable[..., Result]] = {
        "taskPriorty": lambda **more: compaction(direct, datasource=name, config={"taskPriorty": 3}, **more),
        "tuningConfig.maxRowInMemory": lambda **more: compaction(
            direct, datasource=f"{name}_2", config={"tuningConfig": {"maxRowInMemory": 3, "maxRetry": 4}}, **more
        ),
        "rules[0].colour": lambda **more: done(direct, ensure_rules, datasource=name, rules=rules, **more),
        "maxSegmentToMove": lambda **more: done(direct, ensure_configs, coordinator={"maxSegmentToMove": 3}, **more),
        "selectStrategy.strng": lambda **more: done(direct, ensure_configs, overlord=workers, **more),
        "maxCompactionTaskSlot": lambda **more: done(
            direct, ensure_configs, compaction={"maxCompactionTaskSlot": 3}, **more
        ),
    }
    version = direct.druid.version
    for place, call in calls.items():
        first, second = call(), call()
        for result in (first, second):
            (warning,) = (each.split(": ", 1)[1] for each in result["warnings"])
            assert re.match(rf"Druid {version} (ignores unknown|does not return) field {re.escape(place)}[.:]", warning)
        assert (second["changed"], direct.writes) == (False, [])
    # of a compaction, the first run has reported it
    for place, call in [*calls.items()][2:]:
        for check_mode in (True, False):
            with pytest.raises(PartialFailure, match=rf"{re.escape(place)}[.:] .*Nothing is sent") as no:
                call(unknown_fields="fail", check_mode=check_mode)
            assert (no.value.result["changed"], direct.writes) == (False, [])
    for datasource in (name, f"{name}_2"):
        assert compaction(direct, datasource=datasource, state="absent")["changed"]
    # what Druid does not know is seen once it has been sent
    with pytest.raises(PartialFailure, match=r"taskPriorty: .* All other fields are set") as no:
        compaction(direct, datasource=name, config={"taskPriorty": 3, "taskPriority": 4}, unknown_fields="fail")
    assert no.value.result["config"]["taskPriority"] == 4
    assert compaction(direct, datasource=name, state="absent")["changed"]
    assert done(direct, ensure_rules, datasource=name, state="absent")["changed"]
    assert done(direct, ensure_configs, overlord={"selectStrategy": None})["changed"]


def test_author_and_comment_are_in_the_audit_history(direct: Direct, name: str) -> None:
    specified = {"author": "alice", "comment": f"for {name}"}
    done(direct, ensure_rules, datasource=name, rules=_period(7), **specified)
    done(direct, ensure_configs, coordinator={"replicantLifetime": 16}, **specified)
    done(direct, ensure_configs, coordinator={"replicantLifetime": 15}, **specified)

    for history in (f"/druid/coordinator/v1/rules/{name}/history", "/druid/coordinator/v1/config/history?count=1"):
        newest = direct.client.get(history)[0]["auditInfo"]
        assert (newest["author"], newest["comment"].partition(" druidops ")[0]) == ("alice", f"for {name}")
    assert done(direct, ensure_rules, datasource=name, state="absent")["changed"]


def test_many_datasources_are_read_at_once_and_a_failure_stops_no_other(direct: Direct, name: str) -> None:
    broken = {"datasource": f"{name}_2", "config": {"granularitySpec": {"segmentGranularity": "sometimes"}}}
    absent = {"datasource": f"{name}_3", "state": "absent"}
    with pytest.raises(
        PartialFailure, match=rf"^compactions\[0\]: POST .* compactions\[3\]: datasource \('{name}'\): "
    ) as no:
        compaction(direct, compactions=[broken, {"datasource": name}, absent, {"config": {"dataSource": name}}])
    assert [(each["datasource"], each["changed"], "msg" in each) for each in no.value.result["compactions"]] == [
        (broken["datasource"], False, True),
        (name, True, False),
        (absent["datasource"], False, False),
        (name, False, True),
    ]

    assert not compaction(direct, compactions=[{"datasource": name}])["changed"]
    assert len(direct.proxy.exchanges) == 1
    (reported,) = compacted(direct.client, {"datasource": name, "status": True})
    assert (reported["datasource"], reported["config"]["taskPriority"], "status" in reported) == (name, 25, True)
    assert compaction(direct, datasource=name, state="absent")["changed"]


def test_outdated_state_is_read_again_before_a_write(
    direct: Direct, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compaction(direct, datasource=name, config={"taskPriority": 30})
    old = all_compaction(direct.client)
    # by another client
    direct.client.post("/druid/coordinator/v1/config/compaction", {**old[name], "skipOffsetFromLatest": "PT1H"})
    monkeypatch.setattr(ensure, "all_compaction", lambda _client: old)

    result = compaction(direct, compactions=[{"datasource": name, "config": {"taskPriority": 31}}])

    found = result["compactions"][0]["config"]
    assert (found["taskPriority"], found["skipOffsetFromLatest"]) == (31, "PT1H")
    assert compaction(direct, datasource=name, state="absent")["changed"]


def test_concurrent_change_is_kept(direct: Direct, name: str) -> None:
    config = DynamicConfig(direct.client, COORDINATOR, {"replicantLifetime": 16})
    before = config.read()
    done(direct, ensure_configs, coordinator={"decommissioningNodes": [f"{name}:1"]})

    assert config.write(before, config.merge(before))["decommissioningNodes"] == [f"{name}:1"]

    assert done(direct, ensure_configs, coordinator={"decommissioningNodes": [], "replicantLifetime": 15})["changed"]


def test_concurrent_removal(direct: Direct, name: str) -> None:
    compaction(direct, datasource=name)
    removal = Compaction(direct.client, name, None)
    before = removal.read()
    assert compaction(direct, datasource=name, state="absent")["changed"]

    assert removal.write(before, None) is None


def test_rules_of_the_cluster_cannot_be_removed(direct: Direct) -> None:
    with pytest.raises(PartialFailure, match=r"^state \('absent'\): the rules of the cluster cannot be removed"):
        done(direct, ensure_rules, datasource="_default", state="absent")

    assert direct.writes == []
    (reported,) = retention_rules_info(direct.client, {"datasource": "_default"})
    assert [rule["type"] for rule in reported["rules"]] == ["loadForever"]


def test_rules_of_many_datasources(direct: Direct, name: str) -> None:
    absent = {"datasource": f"{name}_2", "state": "absent"}
    rules = [{"datasource": name, "rules": json.dumps(_period(7))}, absent, {"datasource": name, "state": "absent"}]
    with pytest.raises(
        PartialFailure, match=r"^retention_rules\[2\]: datasource \('\w+'\): duplicate datasource"
    ) as no:
        done(direct, ensure_rules, retention_rules=rules)
    entries = no.value.result["retention_rules"]
    assert [(each["datasource"], each["changed"]) for each in entries] == [
        (name, True),
        (absent["datasource"], False),
        (name, False),
    ]
    assert [rule["type"] for rule in entries[0]["rules"]] == ["loadByPeriod", "dropForever"]

    for empty in ([], "[]", None):
        with pytest.raises(PartialFailure, match=r"^rules(?: \(\[\]\))?: set at least one rule, or state: absent"):
            done(direct, ensure_rules, datasource=name, rules=empty)
    assert direct.writes == []

    (found,) = retention_rules_info(direct.client, {"datasource": name})
    again = done(direct, ensure_rules, retention_rules=[found])
    assert (again["changed"], direct.writes) == (False, [])
    assert done(direct, ensure_rules, retention_rules=[absent, {"datasource": name}], state="absent")["changed"]
    assert retention_rules_info(direct.client, {"datasource": name}) == []


@pytest.fixture
def by_supervisors(druid_33: Druid) -> Iterator[Direct]:
    """A Druid that compacts by supervisors, which is what it does by itself from 37 on."""
    with direct_on(druid_33) as direct:
        assert done(direct, ensure_configs, compaction={"useSupervisors": True})["changed"]
        yield direct
        assert done(direct, ensure_configs, compaction={"useSupervisors": False})["changed"]


def test_suspended_supervisor_stays_suspended_when_its_compaction_changes(by_supervisors: Direct, name: str) -> None:
    place = f"/druid/indexer/v1/supervisor/autocompact__{name}"
    for priority, is_suspended in ((30, False), (31, True), (32, True)):
        assert compaction(by_supervisors, datasource=name, config={"taskPriority": priority})["changed"]
        spec = by_supervisors.client.get(place)
        if is_suspended:
            assert spec["suspended"] is True
        else:
            by_supervisors.client.post(f"{place}/suspend")
        assert spec["spec"]["taskPriority"] == priority
        assert not compaction(by_supervisors, datasource=name, config={"taskPriority": priority})["changed"]

    assert compaction(by_supervisors, datasource=name, state="absent")["changed"]
    assert f"autocompact__{name}" not in by_supervisors.client.get("/druid/indexer/v1/supervisor")
