# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One or many things: the items of a call, an entry for each in the result, and one wait for all."""

from __future__ import annotations

import time
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._operations.module_result import ModuleResult
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import items_of
from ansible_collections.druidops.druid.plugins.module_utils._operations.wait_for_all import Wait, wait_for_all
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import WaitTimeout
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, PartialFailure


def report_of(**params: Any) -> ModuleResult:
    return ModuleResult(
        "lookups", "lookup", "spec", items_of({"state": "present", "lookups": None, **params}, "lookups")
    )


def test_one_thing() -> None:
    report = report_of(id="a")
    report.items[0].result.update(changed=True, spec={})
    entry = {"id": "a", "changed": True, "spec": {}}
    assert report.result() == {**entry, "lookups": [entry], "diff": [], "warnings": []}


def test_list_of_one_is_a_list() -> None:
    report = report_of(lookups=[{"id": "a"}])
    entry = {"id": "a", "changed": False}
    assert report.result() == {"lookups": [entry], "changed": False, "diff": [], "warnings": []}


def test_empty_list_changes_nothing() -> None:
    assert report_of(lookups=[]).result() == {"lookups": [], "changed": False, "diff": [], "warnings": []}


def test_state_of_an_item_overrides_that_of_the_module() -> None:
    report = report_of(
        state="absent", lookups=[{"id": "a"}, {"id": "b", "state": "present"}, {"id": "c", "state": None}]
    )
    assert [item.is_present for item in report.items] == [False, True, False]


def test_failure_is_in_its_entry_and_stops_no_other() -> None:
    report = report_of(lookups=[{"id": "a"}, {"id": "b"}, {"id": "a"}])
    for item in report.items:
        with report.part_of(item):
            report.identify(item, item.options["id"])
            if item.options["id"] == "b":
                raise DruidError("No.")
            item.result["changed"] = True
    with pytest.raises(PartialFailure) as failed:
        report.result()
    duplicate = "id ('a'): duplicate id; list each only once"
    assert str(failed.value) == f"lookups[1]: No. lookups[2]: {duplicate}"
    assert failed.value.result["lookups"] == [
        {"id": "a", "changed": True},
        {"id": "b", "changed": False, "failed": True, "msg": "No."},
        {"id": "a", "changed": False, "failed": True, "msg": duplicate},
    ]
    assert failed.value.result["changed"]


def test_failure_of_one_thing_is_the_message() -> None:
    report = report_of(id="a")
    with report.part_of(report.items[0]):
        raise DruidError("No.")
    with pytest.raises(PartialFailure, match=r"^No\.$") as failed:
        report.result()
    assert failed.value.result.keys() == {"id", "changed", "lookups", "diff", "warnings"}


def test_wait_reads_each_until_it_has_an_outcome() -> None:
    statuses = [iter([1]), iter([5, 6])]

    def fail() -> int:
        raise DruidError("No.")

    waits = [Wait(lambda: next(statuses[0]), lambda status: status == 1, "the first"), Wait(fail, bool, "the second")]
    wait_for_all(waits, 0)
    wait_for_all([late := Wait(lambda: next(statuses[1]), lambda status: status == 6, "the third")], 0)
    assert waits[0].outcome() == 1
    with pytest.raises(DruidError, match=r"^No\.$"):
        waits[1].outcome()
    with pytest.raises(WaitTimeout, match=r"^Timed out after 0 s waiting for the third\.$") as timeout:
        late.outcome()
    assert timeout.value.last == 5


def test_wait_reads_none_again_after_its_time() -> None:
    """However many there are: each of them may take long."""
    reads: list[int] = []

    def read() -> None:
        time.sleep(0.6 if len(reads) >= len(waits) else 0)
        reads.append(0)

    waits = [Wait(read, bool, "it") for _number in range(4)]
    wait_for_all(waits, 0.2)
    assert len(waits) < len(reads) < 2 * len(waits)
