# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Topics that do not exist delay a list of supervisors once, not once for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct, direct_on, supervisor_name
from ansible_collections.druidops.druid.tests.system.support.supervisor_specs import CASES, with_io
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, share_druid

__all__ = ["druid", "share_druid"]

STATES = "/druid/indexer/v1/supervisor?state=true"
COUNT = 4


@pytest.fixture
def direct(druid: Druid) -> Iterator[Direct]:
    with direct_on(druid) as found:
        yield found


@pytest.fixture
def specs(direct: Direct) -> Iterator[list[dict[str, Any]]]:
    """Yield specifications of running supervisors whose topics do not exist."""
    assert direct.druid.kafka is not None
    with supervisor_name(direct.druid) as name:
        address = direct.druid.kafka.address
        found = [CASES["hardly anything"].spec(f"{name}-{number}", address) for number in range(COUNT)]
        yield [{**with_io(spec, startDelay="PT0S"), "suspended": False} for spec in found]


def waits(direct: Direct) -> list[int]:
    """Return how often the states were read before each write."""
    counts = [0]
    for exchange in direct.proxy.exchanges:
        if exchange.method == "GET" and exchange.path == STATES:
            counts[-1] += 1
        elif exchange.method == "POST":
            counts.append(0)
    return counts[:-1]


@pytest.mark.parametrize("operation", ["change", "remove"])
def test_list_waits_once(
    direct: Direct, specs: list[dict[str, Any]], operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = "ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_start._START"
    monkeypatch.setattr(start, 3.0)
    items = [{"spec": spec} for spec in specs]
    direct.supervisor(supervisors=items)
    changed = [{"spec": with_io(each["spec"], taskDuration="PT7M")} for each in items]
    ids = [spec["spec"]["dataSchema"]["dataSource"] for spec in specs]
    arguments: dict[str, Any] = (
        {"supervisors": changed}
        if operation == "change"
        else {
            "supervisors": [{"id": each} for each in ids],
            "state": "absent",
        }
    )
    planned = direct.supervisor(**arguments, check_mode=True)
    assert waits(direct) == []
    result = direct.supervisor(**arguments)
    assert [each["id"] for each in result["supervisors"]] == ids
    assert [each["spec"] for each in result["supervisors"]] == [each["spec"] for each in planned["supervisors"]]
    first, *others = waits(direct)
    assert first > 2
    assert others == [1] * (COUNT - 1)
