# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Segments that newer ones overshadow, of all time, whose response is lost, or whose files Druid cannot delete."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources.services import load_status
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import PartialFailure
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct, direct_on
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, share_druid
from testbed.recording_proxy import Loss

__all__ = ["druid", "share_druid"]

TASK = "POST /druid/indexer/v1/task"


@pytest.fixture
def direct(druid: Druid) -> Iterator[Direct]:
    with direct_on(druid) as found:
        yield found


@pytest.fixture
def name(druid: Druid) -> Iterator[str]:
    """A name that has to be quoted in a path."""
    name = f"ö 50%_{secrets.token_hex(4)}"
    yield name
    druid.remove_datasource(name)


def ingest(direct: Direct, datasource: str, granularity: str, *times: str) -> None:
    schema = {
        "dataSource": datasource,
        "timestampSpec": {"column": "ts", "format": "auto"},
        "dimensionsSpec": {"dimensions": ["page"]},
        "granularitySpec": {"segmentGranularity": granularity, "rollup": False},
    }
    source = {"type": "inline", "data": "\n".join(f"{time},a" for time in times)}
    reading = {"type": "csv", "columns": ["ts", "page"]}
    io_config = {"type": "index_parallel", "inputSource": source, "inputFormat": reading}
    spec: dict[str, Any] = {"type": "index_parallel", "spec": {"dataSchema": schema, "ioConfig": io_config}}
    direct.task(spec=spec, wait=True)


def load(direct: Direct, datasource: str, tier: str) -> None:
    direct.retention_rules(datasource=datasource, rules=[{"type": "loadForever", "tieredReplicants": {tier: 1}}])


def test_overshadowed_segments_are_deleted_and_not_used_again(direct: Direct, name: str) -> None:
    """And are not awaited, although the Coordinator's load status counts them."""
    # so that the first ones are replaced before they are loaded
    load(direct, name, "absent")
    ingest(direct, name, "hour", "2020-01-01T00", "2020-01-01T01", "2020-01-02T00")
    ingest(direct, name, "day", "2020-01-01")
    load(direct, name, "_default_tier")
    counted = "/druid/coordinator/v1/loadstatus"
    eventually(lambda: direct.client.get(counted, params={"simple": True}).get(name) == 2)
    assert load_status(direct.client)[name] == 0
    keep = {"datasource": name, "state": "deleted", "used_segments": "keep", "wait": True}
    # the Coordinator does that when it has been the leader for 15 minutes
    for hour in ("2020-01-01T00/PT1H", "2020-01-01T01/PT1H"):
        assert direct.datasource(datasource=name, interval=hour, state="unused")["changed"]
    assert not direct.datasource(datasource=name, state="used", check_mode=True)["changed"]
    assert direct.datasource(**keep)["segments"] == {"used": 2, "unused": 0}
    assert not direct.datasource(**keep)["changed"]
    direct.datasource(datasource=name, state="deleted", used_segments="delete", wait=True)


def test_segments_that_newer_unused_ones_overshadow(direct: Direct, name: str) -> None:
    """Druid uses the newest version only, although all of them are unused."""
    ingest(direct, name, "hour", "2020-01-01T00", "2020-01-01T01", "2020-01-02T00")
    ingest(direct, name, "day", "2020-01-01")
    direct.datasource(datasource=name, state="unused")
    predicted = direct.datasource(datasource=name, state="used", check_mode=True)
    assert predicted == direct.datasource(datasource=name, state="used")
    assert predicted["segments"] == {"used": 2, "unused": 0}
    assert not direct.datasource(datasource=name, state="used")["changed"]
    direct.datasource(datasource=name, state="deleted", used_segments="delete", wait=True)


def test_files_that_druid_cannot_delete(direct: Direct, name: str) -> None:
    """It has deleted the metadata before, so only the failed task shows the next run that files are left."""
    ingest(direct, name, "day", "2020-01-01")
    [index] = (direct.druid.directory / "segments" / name).rglob("index")
    files = index.rename(index.with_name("files"))
    # Druid expects a directory
    index.write_text("", encoding="utf-8")

    params: dict[str, Any] = {"datasource": name, "state": "deleted", "used_segments": "delete", "wait": True}
    with pytest.raises(PartialFailure, match=r"failed: .* files of segments that are not listed anymore") as error:
        direct.datasource(**params)
    assert error.value.result["changed"]
    again = direct.datasource(**params)
    assert (again["changed"], again["segments"]) == (False, {"used": 0, "unused": 0})
    assert "files of segments that are not listed anymore may be left" in again["warnings"][0]
    assert files.exists()


def test_segment_of_all_time_with_a_lost_response(direct: Direct, name: str) -> None:
    ingest(direct, name, "all", "2020-01-01", "2021-01-01")
    result = direct.datasource(datasource=name, interval="2000/2030", state="unused")
    assert "1 used segments lie only partly" in result["warnings"][0]
    direct.proxy.fail_next(Loss.CUT, method="DELETE")
    assert direct.datasource(datasource=name, state="unused")["segments"] == {"used": 0}
    direct.proxy.fail_next(Loss.CUT, method="POST", path="/task$")
    assert direct.datasource(datasource=name, state="deleted", wait=True)["segments"] == {"used": 0, "unused": 0}
    assert set(direct.writes) == {TASK}


def test_task_that_may_add_segments(direct: Direct, name: str) -> None:
    ingest(direct, name, "day", "2020-01-01")
    noop = f"{name}_noop"
    direct.task(id=noop, spec={"type": "noop", "dataSource": name, "runTime": 600_000})
    with pytest.raises(PartialFailure, match=rf"segments may be added by task '{noop}'"):
        direct.datasource(datasource=name, state="deleted", used_segments="delete")
    assert direct.writes == []
    direct.task(id=noop, state="absent")
    direct.datasource(datasource=name, state="deleted", used_segments="delete", wait=True)
