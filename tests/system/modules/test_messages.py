# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Mistakes that a real Druid rejects: the message names the field and the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import PartialFailure
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct, direct_on
from ansible_collections.druidops.druid.tests.system.support.supervisor_specs import with_io
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, druid_27, share_druid
from testbed.proxy import Upstream

__all__ = ["druid", "druid_27", "share_druid"]


@pytest.fixture
def direct(druid: Druid) -> Iterator[Direct]:
    with direct_on(druid) as direct:
        yield direct


SUPERVISOR: dict[str, Any] = {
    "type": "kafka",
    "suspended": True,
    "spec": {
        "dataSchema": {
            "dataSource": "rejected",
            "timestampSpec": {"column": "t"},
            "dimensionsSpec": {"dimensions": ["a"]},
            "granularitySpec": {"segmentGranularity": "day"},
        },
        "ioConfig": {
            "topic": "rejected",
            "inputFormat": {"type": "json"},
            "consumerProperties": {"bootstrap.servers": "127.0.0.1:1"},
        },
        "tuningConfig": {"type": "kafka"},
    },
}
TASK: dict[str, Any] = {
    "type": "index_parallel",
    "spec": {
        "dataSchema": SUPERVISOR["spec"]["dataSchema"],
        "ioConfig": {"type": "index_parallel", "inputSource": {"type": "inline", "data": ""}},
    },
}

# (fields of ioConfig, the end of the message)
FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"taskCount": "many"}, "Check the field spec.ioConfig.taskCount."),
    ({"taskCount": [2]}, "Check the field spec.ioConfig.taskCount."),
    ({"taskDuration": "1 hour"}, "Check the field spec.ioConfig.taskDuration."),
    ({"consumerProperties": ["a"]}, "Check the field spec.ioConfig.consumerProperties."),
    ({"useEarliestOffset": "perhaps"}, "Check the field spec.ioConfig.useEarliestOffset."),
    ({"inputFormat": "json"}, "Set the field spec.ioConfig.inputFormat.type."),
    ({"inputFormat": {"type": "jsn"}}, "Check the field spec.ioConfig.inputFormat.type. Did you mean 'json'?"),
]


@pytest.mark.parametrize(("fields", "remedy"), FIELDS)
def test_field_with_a_wrong_type(direct: Direct, fields: dict[str, Any], remedy: str) -> None:
    with pytest.raises(PartialFailure, match="400 Bad Request") as refused:
        direct.supervisor(spec=with_io(SUPERVISOR, **fields))

    assert str(refused.value).endswith(remedy)


def test_type_of_an_extension_that_is_not_loaded(direct: Direct) -> None:
    """It is sent if it has an id, since it may be that of any extension."""
    with pytest.raises(PartialFailure, match=r"400 .* Check the field type\. Did you mean 'kafka'\?$"):
        direct.supervisor(id="rejected", spec={**SUPERVISOR, "type": "kafak"})
    with pytest.raises(PartialFailure, match=r"spec\.type \('kafak'\): is not a type of supervisor"):
        direct.supervisor(spec={**SUPERVISOR, "type": "kafak"})
    assert direct.proxy.exchanges == []


def test_spec_of_the_other_module(direct: Direct) -> None:
    with pytest.raises(PartialFailure, match="Use the module task for this spec"):
        direct.supervisor(spec=TASK, id="rejected")
    with pytest.raises(PartialFailure, match="Use the module supervisor for this spec"):
        direct.task(spec=SUPERVISOR)
    assert direct.proxy.exchanges == []


def test_type_of_an_input_source(direct: Direct) -> None:
    misspelt = {"type": "index_parallel", "inputSource": {"type": "inlin", "data": ""}}
    with pytest.raises(
        PartialFailure, match=r"Check the field spec\.ioConfig\.inputSource\.type\. Did you mean 'inline'\?$"
    ):
        direct.task(spec={**TASK, "spec": {**TASK["spec"], "ioConfig": misspelt}})


def test_rules_are_not_merged(direct: Direct) -> None:
    """The message about current fields is for documents that these are part of."""
    negative = [{"type": "loadForever", "tieredReplicants": {"_default_tier": -1}}]
    with pytest.raises(PartialFailure, match=r"400 .*Invalid number of replicas") as refused:
        direct.retention_rules(datasource="rejected", rules=negative)

    assert "current" not in str(refused.value)


INSERT = "INSERT INTO rejected SELECT TIMESTAMP '2026-01-01' AS __time PARTITIONED BY DAY"


def test_sql_without_its_extension(druid: Druid) -> None:
    """The Druid 33 of the tests has no multi-stage query engine."""
    with (
        direct_on(druid) as direct,
        pytest.raises(PartialFailure, match=r"405 .* add the extension druid-multi-stage-query"),
    ):
        direct.query(query=INSERT)


def test_sql_at_a_server_without_sql(druid: Druid) -> None:
    with (
        direct_on(druid, upstream=Upstream(druid.overlord_url)) as direct,
        pytest.raises(PartialFailure, match=r"404 .* url to a Router or a Broker"),
    ):
        direct.query(query=INSERT)


@pytest.mark.parametrize("query", ["SELECT 1", f"EXPLAIN PLAN FOR {INSERT}"])
def test_statement_that_ingests_nothing_is_never_sent(druid_27: Druid, query: str) -> None:
    with direct_on(druid_27) as direct:
        with pytest.raises(PartialFailure, match=r"query: it is an? .*, but only INSERT and REPLACE ingest"):
            direct.query(query=query)
        assert direct.proxy.exchanges == []
