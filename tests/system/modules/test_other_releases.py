# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
Supervisors on releases whose responses differ from the running one: a proxy applies the differences.

test_corpus.py verifies that specifications are in the desired state there as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ServerError
from ansible_collections.druidops.druid.plugins.module_utils._operations.supervisor import supervisor_info
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import SUPERVISORS, Supervisor
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import DesiredSupervisor
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, PartialFailure
from ansible_collections.druidops.druid.tests.system.support.campaign import only_first
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct, direct_on, supervisor_name
from ansible_collections.druidops.druid.tests.system.support.supervisor_specs import CASES, with_io
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, druid_33, share_druid
from testbed.other_release import DIFFERENCES, other_release

__all__ = ["druid", "druid_33", "share_druid"]

RELEASES = ("28.0.0", "34.0.0", "37.0.0", "38.0.0")
FLAG = "skipRestartIfUnmodified"


@contextmanager
def direct_on_release(druid: Druid, release: str) -> Iterator[Direct]:
    with other_release(release, druid.upstream) as upstream, direct_on(druid, upstream=upstream) as direct:
        yield direct


@pytest.fixture
def name(druid_33: Druid) -> Iterator[str]:
    """A beginning of the ids of supervisors, which do not outlive the test."""
    with supervisor_name(druid_33) as name:
        yield name


@pytest.fixture
def spec(druid_33: Druid, name: str) -> dict[str, Any]:
    assert druid_33.kafka is not None
    return CASES["hardly anything"].spec(name, druid_33.kafka.address)


def compaction(name: str, offset: str) -> dict[str, Any]:
    return {"type": "autocompact", "spec": {"dataSource": name, "skipOffsetFromLatest": offset}}


def test_each_difference_belongs_to_a_release_other_than_the_running_one() -> None:
    for difference in DIFFERENCES:
        assert not difference.concerns("33.0.0")
        assert [each for each in RELEASES if difference.concerns(each)]
        assert difference.seen_on is None or difference.concerns(difference.seen_on)


def test_additional_fields_of_druid_37(druid_33: Druid, name: str, spec: dict[str, Any]) -> None:
    """Otherwise the tests below would prove nothing."""
    with direct_on_release(druid_33, "37.0.0") as direct:
        direct.supervisor(spec=spec)
        (entry,) = [each for each in direct.client.get(SUPERVISORS, params={"full": "true"}) if each["id"] == name]
        stored = direct.client.get(f"{SUPERVISORS}/{name}")

    assert (entry["dataSource"], entry["spec"], stored["id"]) == (name, stored, name)
    tuning = stored["spec"]["tuningConfig"]
    assert (tuning["repartitionTransitionDuration"], {*tuning["indexSpec"].values()}) == ("PT120S", {None})


def test_before_33_no_unmodified_supervisor_is_sent(druid_33: Druid, name: str, spec: dict[str, Any]) -> None:
    with direct_on_release(druid_33, "28.0.0") as direct:
        assert direct.supervisor(spec=spec)["changed"]
        for _again in range(2):
            assert (direct.supervisor(spec=spec)["changed"], direct.writes) == (False, [])
        assert direct.history(name) == 1
        direct.client.post(SUPERVISORS, spec, params={FLAG: "true"})
        assert direct.history(name) == 2
        assert not direct.supervisor(spec=spec)["changed"]


@pytest.mark.parametrize("release", only_first(1, ["37.0.0", "34.0.0"], "the same on one release"))
def test_other_id_is_another_supervisor(druid_33: Druid, name: str, spec: dict[str, Any], release: str) -> None:
    calls = ({"spec": spec}, {"spec": {**spec, "id": f"{name}_2"}}, {"spec": spec, "id": f"{name}_3"})
    with direct_on_release(druid_33, release) as direct:
        for is_new in (True, False):
            results = [direct.supervisor(**call) for call in calls]
            assert [(each["changed"], each["warnings"]) for each in results] == [(is_new, [])] * 3
            assert [each["supervisors"][0]["id"] for each in results] == [name, f"{name}_2", f"{name}_3"]
        together = direct.supervisor(supervisors=list(calls))
        assert (together["changed"], direct.writes) == (False, [])
        asked = {"id": None, "datasource": name, "state": None, "status": False, "history": 0}
        assert [each["id"] for each in supervisor_info(direct.client, asked)] == [name, f"{name}_2", f"{name}_3"]

        assert direct.supervisor(spec=calls[1]["spec"], state="absent")["changed"]
        assert direct.writes == [f"POST /druid/indexer/v1/supervisor/{name}_2/terminate"]
        assert [each["id"] for each in supervisor_info(direct.client, asked)] == [name, f"{name}_3"]


def test_before_34_other_id_is_rejected(druid_33: Druid, name: str, spec: dict[str, Any]) -> None:
    with direct_on_release(druid_33, "28.0.0") as direct:
        with pytest.raises(PartialFailure, match=r"before Druid 34 the id is the name of the datasource; omit it"):
            direct.supervisor(spec=spec, id=f"{name}_2")
        assert direct.writes == []


@pytest.mark.parametrize("release", RELEASES)
def test_other_topic_is_rejected_before_anything_is_sent(druid_33: Druid, spec: dict[str, Any], release: str) -> None:
    with direct_on_release(druid_33, release) as direct:
        direct.supervisor(spec=spec)
        with pytest.raises(
            PartialFailure, match=r"topic \('other'\): the supervisor reads .* Suspend it and wait until"
        ):
            direct.supervisor(spec=with_io(spec, topic="other"))
        assert direct.writes == []
        assert not direct.supervisor(spec=spec)["changed"]


def test_druids_rejection_of_another_topic_is_reported(druid_33: Druid, name: str, spec: dict[str, Any]) -> None:
    """Another client creates the supervisor between the read and the write."""
    words = r"500 .*input source stream from \[\w+\] to \[other\] is not supported for a running supervisor"
    with direct_on_release(druid_33, "37.0.0") as direct:
        direct.supervisor(spec=spec)
        supervisor = Supervisor(direct.client, DesiredSupervisor(name))
        before = supervisor.read()
        assert before is not None
        with pytest.raises(ServerError, match=words):
            direct.client.post(SUPERVISORS, with_io(before, topic="other"))
        with pytest.raises(DruidError, match=rf"{words}.* Current state of supervisor '{name}': unchanged\."):
            supervisor.write(before, with_io(before, topic="other"))
        assert supervisor.read() == before


def test_changed_equals_modified_of_druid_38(
    druid_33: Druid, spec: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with direct_on_release(druid_33, "38.0.0") as direct:
        answers: list[dict[str, Any]] = []
        post = direct.client.post
        monkeypatch.setattr(direct.client, "post", lambda *a, **more: answers.append(post(*a, **more)))

        changes = [
            direct.supervisor(spec=each)["changed"] for each in (spec, spec, {**spec, "context": {"priority": 1}})
        ]

    assert changes == [True, False, True]
    assert [(each["modified"], each["restarted"]) for each in answers] == [(True, True), (True, True)]


@pytest.mark.parametrize("release", only_first(1, ["38.0.0", "37.0.0", "34.0.0"], "the same on one release"))
def test_compaction_never_has_its_own_id(druid_33: Druid, name: str, release: str) -> None:
    with direct_on_release(druid_33, release) as direct:
        created = direct.supervisor(spec=compaction(name, "PT1H"))
        assert (created["changed"], created["supervisors"][0]["id"]) == (True, f"autocompact__{name}")
        assert "id" not in created["supervisors"][0]["spec"]
        assert (direct.supervisor(spec=compaction(name, "PT1H"))["changed"], direct.writes) == (False, [])
        assert direct.supervisor(spec=compaction(name, "P1D"))["changed"]
        assert direct.supervisor(spec=compaction(name, "P1D"), state="absent")["changed"]
        assert not direct.supervisor(spec=compaction(name, "P1D"), state="absent")["changed"]
