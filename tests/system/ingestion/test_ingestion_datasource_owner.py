# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Several ingestions into a datasource never fight over its compaction and retention rules: one of them owns each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.ingestion_in_process import KIND, Ingesting, ingesting
from ansible_collections.druidops.druid.tests.system.support.ingestion_specs import batch_spec, kafka_spec
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from testbed.druid.druid import Druid
from testbed.other_release import other_release
from testbed.recording_proxy import recording_proxy

# tests of this group change where Druid stores the compaction
pytestmark = pytest.mark.xdist_group("cluster-wide")

REASON = "DuplicateDatasourceConfig"


@pytest.fixture
def ingestion(live: NamespaceClient, druid: Druid) -> Iterator[Ingesting]:
    with ingesting(live, druid) as started:
        yield started


def config(tier: str, offset: str) -> dict[str, Any]:
    return {
        "rules": [{"type": "loadForever", "tieredReplicants": {tier: 1}}],
        "compaction": {"skipOffsetFromLatest": offset},
    }


OLDER, YOUNGER = config("older", "PT1H"), config("younger", "PT2H")


def config_in_druid(ingestion: Ingesting) -> tuple[list[str], str | None]:
    """Return the tiers of the rules, and the offset of the compaction."""
    rules = ingestion.druid.request("GET", f"/druid/coordinator/v1/rules/{ingestion.name}")
    listed = ingestion.druid.request("GET", "/druid/coordinator/v1/config/compaction")["compactionConfigs"]
    offsets = [each["skipOffsetFromLatest"] for each in listed if each["dataSource"] == ingestion.name]
    return [tier for rule in rules for tier in rule["tieredReplicants"]], offsets[0] if offsets else None


def younger(ingestion: Ingesting) -> Ingesting:
    """Return the client of another resource, which is created in a later second."""
    created = ingestion.stored["metadata"]["creationTimestamp"]
    while created == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()):
        continue
    return replace(ingestion, name=f"{ingestion.name}-younger")


def create_both(ingestion: Ingesting) -> Ingesting:
    """Create a supervisor and a batch with one datasource, and return the client of the batch."""
    ingestion.kafka.make_topic(ingestion.name)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True, **OLDER))
    second = younger(ingestion)
    second.live.create(second.resource("native-batch", batch_spec(ingestion), **YOUNGER))
    return second


def reconcile_alternately(*ingestions: Ingesting) -> list[str]:
    """Reconcile the resources until they are ready, then once more in turn, and return the writes of that."""
    for each in ingestions:
        each.one_pass()
        eventually(lambda one=each: one.one_pass() and one.condition("Ready")[0] == "True")
    written = []
    for each in ingestions:
        each.one_pass()
        written += each.writes
    return written


def change(ingestion: Ingesting, **section: Any) -> None:
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"ingestion": section}})


def test_older_resource_owns_the_configuration(ingestion: Ingesting) -> None:
    second = create_both(ingestion)
    assert reconcile_alternately(ingestion, second) == []
    assert config_in_druid(ingestion) == (["older"], "PT1H")
    assert (ingestion.condition("Degraded")[0], second.condition("Degraded")) == ("False", ("True", REASON))
    [message] = {each["message"] for each in second.stored["status"]["conditions"] if each["reason"] == REASON}
    assert f"DruidIngestion {ingestion.name}, which is older or a compaction supervisor, also specifies the" in message


def test_the_other_does_everything_else(ingestion: Ingesting) -> None:
    second = create_both(ingestion)
    reconcile_alternately(ingestion, second)
    assert second.condition("Ready") == ("True", "Succeeded")
    assert second.condition("Degraded") == ("True", REASON)
    assert config_in_druid(ingestion) == (["older"], "PT1H")


@pytest.mark.parametrize("first", ["owner", "other"])
def test_next_owner_takes_over_without_a_gap(ingestion: Ingesting, first: str) -> None:
    """When the owner does not specify it any more, in either order of the reconciles."""
    second = create_both(ingestion)
    reconcile_alternately(ingestion, second)
    change(ingestion, rules=None, compaction=None)
    order = (ingestion, second) if first == "owner" else (second, ingestion)
    for each in order:
        each.one_pass()
        assert not [write for write in each.writes if write.startswith("DELETE")]
        # never removed
        assert config_in_druid(ingestion) in ((["older"], "PT1H"), (["younger"], "PT2H"))
    assert config_in_druid(ingestion) == (["younger"], "PT2H")
    assert reconcile_alternately(ingestion, second) == []
    assert second.condition("Degraded")[0] == "False"
    # the last one that specifies it removes it
    change(second, rules=None, compaction=None)
    reconcile_alternately(ingestion, second)
    assert config_in_druid(ingestion) == ([], None)


def test_next_owner_takes_over_from_a_deleted_resource(ingestion: Ingesting) -> None:
    second = create_both(ingestion)
    reconcile_alternately(ingestion, second)
    ingestion.one_pass(absent=True)
    assert config_in_druid(ingestion) == (["older"], "PT1H")
    assert reconcile_alternately(second) == []
    assert config_in_druid(ingestion) == (["younger"], "PT2H")


def test_resource_that_does_not_own_it_does_not_remove_it(ingestion: Ingesting) -> None:
    second = create_both(ingestion)
    reconcile_alternately(ingestion, second)
    change(second, rules=None, compaction=None)
    assert reconcile_alternately(second, ingestion) == []
    assert config_in_druid(ingestion) == (["older"], "PT1H")
    assert second.condition("Degraded")[0] == "False"


def test_older_resource_takes_over_from_a_younger_owner(ingestion: Ingesting) -> None:
    second = create_both(ingestion)
    change(ingestion, rules=None, compaction=None)
    reconcile_alternately(ingestion, second)
    assert config_in_druid(ingestion) == (["younger"], "PT2H")
    change(ingestion, **OLDER)
    # the younger one is reconciled first, and keeps what it has applied
    second.one_pass()
    assert second.writes == []
    assert reconcile_alternately(ingestion, second) == []
    assert config_in_druid(ingestion) == (["older"], "PT1H")


def test_supervisors_with_ids_of_their_own_share_the_configuration(live: NamespaceClient, druid: Druid) -> None:
    """Since Druid 34 a datasource can have several supervisors."""
    with (
        ingesting(live, druid) as ingestion,
        other_release("34.0.0", druid.upstream) as upstream,
        recording_proxy(upstream) as proxy,
    ):
        first = replace(ingestion, proxy=proxy)
        first.kafka.make_topic(first.name)
        spec = kafka_spec(first)
        live.create(first.resource("kafka", {**spec, "id": f"{first.name}-1"}, suspend=True, **OLDER))
        second = younger(first)
        live.create(second.resource("kafka", {**spec, "id": f"{first.name}-2"}, suspend=True, **YOUNGER))
        assert reconcile_alternately(first, second, first, second) == []
        assert config_in_druid(first) == (["older"], "PT1H")
        assert second.condition("Degraded") == ("True", REASON)
        supervisors = set(druid.request("GET", "/druid/indexer/v1/supervisor"))
        assert {f"{first.name}-1", f"{first.name}-2"} <= supervisors
        first.one_pass(absent=True)
        second.one_pass()
        assert config_in_druid(first) == (["younger"], "PT2H")


def test_compaction_supervisor_owns_the_compaction(ingestion: Ingesting) -> None:
    """Whatever its age: where Druid compacts by supervisors, both would write the same supervisor in turn."""
    ingestion.kafka.make_topic(ingestion.name)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True, **OLDER))
    second = younger(ingestion)
    spec = {"type": "autocompact", "spec": {"dataSource": ingestion.name, "skipOffsetFromLatest": "PT3H"}}
    second.live.create(second.resource("autocompact", spec, suspend=True))
    for _again in range(2):
        ingestion.one_pass()
        second.one_pass()
        assert config_in_druid(ingestion) == (["older"], None)
    assert ingestion.condition("Degraded") == ("True", REASON)
    supervisor = ingestion.druid.request("GET", f"/druid/indexer/v1/supervisor/autocompact__{ingestion.name}")
    assert supervisor["spec"]["skipOffsetFromLatest"] == "PT3H"
    second.one_pass(absent=True)
    assert reconcile_alternately(ingestion) == []
    assert config_in_druid(ingestion) == (["older"], "PT1H")
