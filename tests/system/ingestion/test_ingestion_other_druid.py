# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An ingestion that refers to another Druid removes nothing from the previous one: two addresses of the same Druid."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.druidops.druid.tests.system.support.ingestion_in_process import (
    KIND,
    Ingesting,
    done,
    ingesting,
)
from ansible_collections.druidops.druid.tests.system.support.ingestion_specs import batch_spec, kafka_spec
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from testbed.druid.druid import Druid

RULES = [{"type": "loadForever", "tieredReplicants": {"_default_tier": 1}}]


@pytest.fixture
def ingestion(live: NamespaceClient, druid: Druid) -> Iterator[Ingesting]:
    with ingesting(live, druid) as started:
        yield started


@pytest.fixture
def moved(ingestion: Ingesting) -> Ingesting:
    """A supervisor with rules was made, and then the resource was pointed at the other address."""
    ingestion.kafka.make_topic(ingestion.name)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True, rules=RULES))
    ingestion.settled()
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"endpoint": {"url": ingestion.druid.url}}})
    return ingestion


def supervisors(ingestion: Ingesting) -> list[str]:
    found = ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")
    return sorted(each for each in found if each.startswith(ingestion.name))


def rules(ingestion: Ingesting) -> list[str]:
    return [each["type"] for each in ingestion.druid.request("GET", f"/druid/coordinator/v1/rules/{ingestion.name}")]


def test_removed_parts_remain_in_the_previous_druid(moved: Ingesting) -> None:
    other = f"{moved.name}x"
    spec = kafka_spec(moved)
    spec["spec"]["dataSchema"]["dataSource"] = other
    moved.live.merge(KIND, moved.name, {"spec": {"ingestion": {"nativeSpec": spec, "rules": None}}})
    moved.settled()
    assert supervisors(moved) == [moved.name, other]
    assert rules(moved) == ["loadForever"]
    # from now on this one is the one that is kept, and ended
    moved.one_pass(absent=True)
    assert supervisors(moved) == [moved.name]


def test_existing_supervisor_is_adopted(moved: Ingesting) -> None:
    provided = moved.times_submitted("kafka")
    moved.settled()
    assert done(moved.one_pass()) == ()
    assert moved.times_submitted("kafka") == provided
    moved.one_pass(absent=True)
    assert supervisors(moved) == []


def test_deletion_before_a_reconcile_keeps_the_supervisor(moved: Ingesting) -> None:
    ended = moved.one_pass(absent=True)
    assert moved.live.find(KIND, moved.name) is None
    [warning] = ended.warnings
    assert "runs in another Druid (http://127.0.0.1:" in warning
    assert supervisors(moved) == [moved.name]


def test_batch_does_not_run_again(ingestion: Ingesting) -> None:
    ingestion.live.create(ingestion.resource("native-batch", batch_spec(ingestion)))
    ingestion.settled()
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"endpoint": {"url": ingestion.druid.url}}})
    assert done(ingestion.one_pass()) == ()
    assert ingestion.condition("Ready") == ("True", "Succeeded")
