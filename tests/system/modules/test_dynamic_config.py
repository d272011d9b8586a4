# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Dynamic configurations: what Druid makes of them, and those that a release does not have."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._operations.dynamic_config import dynamic_config_info
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import PartialFailure
from ansible_collections.druidops.druid.tests.system.support.campaign import only_first
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct, direct_on
from testbed.druid.druid import Druid
from testbed.druid_plugin import Share, druid, druid_27, druid_33, share_druid
from testbed.other_release import other_release

__all__ = ["druid", "druid_27", "druid_33", "share_druid"]

# What they change there is once in a Druid.
pytestmark = pytest.mark.xdist_group("cluster-wide")

OVERLORD = "/druid/indexer/v1/worker"


@pytest.fixture(params=only_first(1, ["druid", "druid_27"], "the same on one release"))
def direct(request: pytest.FixtureRequest, share_druid: Share) -> Iterator[Direct]:
    del share_druid  # named, so that it is seen that a Druid is needed (conftest.py)
    with direct_on(request.getfixturevalue(request.param)) as found:
        yield found


def test_normalized_value_is_reported(direct: Direct) -> None:
    """Druid reads a strategy that it does not know as another one: it is sent once, and a warning names it."""
    specified = {"selectStrategy": {"type": "equalDistributoin"}}
    try:
        direct.dynamic_config(overlord={"selectStrategy": {"type": "fillCapacity"}})
        for is_due in (True, False):
            result = direct.dynamic_config(overlord=specified)
            assert (result["changed"], len(direct.writes)) == (is_due, is_due)
            (warning,) = result["warnings"]
            assert 'Druid normalizes selectStrategy.type to "equalDistribution". Use Druid\'s form.' in warning
        # another client changes something else, and then that
        direct.client.post(OVERLORD, {"selectStrategy": {"type": "equalDistribution"}})
        assert not direct.dynamic_config(overlord=specified)["changed"]
        direct.client.post(OVERLORD, {"selectStrategy": {"type": "fillCapacity"}})
        assert direct.dynamic_config(overlord=specified)["changed"]
        assert not direct.dynamic_config(overlord=specified)["changed"]
    finally:
        direct.dynamic_config(overlord={"selectStrategy": None})


def test_missing_configuration_is_rejected(druid_33: Druid) -> None:
    brokers = r"^broker: Druid 33\.0\.0 has no dynamic configuration of the Brokers; it requires Druid 37 or newer"
    runner = r"^kubernetes_task_runner: Druid 33\.0\.0 has no Kubernetes task runner; load its extension first"
    with direct_on(druid_33) as direct:
        with pytest.raises(PartialFailure, match=brokers):
            direct.dynamic_config(broker={"queryBlocklist": []})
        with pytest.raises(PartialFailure, match=runner):
            direct.dynamic_config(kubernetes_task_runner={"capacity": 3})
        assert direct.writes == []
        assert [each["id"] for each in dynamic_config_info(direct.client, {"id": None})] == [
            "coordinator",
            "overlord",
            "compaction",
        ]


def test_kubernetes_task_runner(druid_33: Druid) -> None:
    small = {"selectionKey": "small", "type": ["index_kafka", "compact"], "context.tags": {"team": ["b", "a"]}}
    specified = {
        "capacity": "12",
        "podTemplateSelectStrategy": {"type": "selectorBased", "selectors": [small, {"selectionKey": "large"}]},
    }
    fewer = {"podTemplateSelectStrategy": {"selectors": [{"selectionKey": "small", "type": ["compact"]}]}}
    with other_release("37.0.0", druid_33.upstream) as newer, direct_on(druid_33, upstream=newer) as direct:
        for desired in (specified, fewer):
            for is_new in (True, False):
                result = direct.dynamic_config(kubernetes_task_runner=desired)
                assert (result["changed"], len(direct.writes), result["warnings"]) == (is_new, int(is_new), [])
        found = result["configs"][0]["config"]
        assert found["capacity"] == 12
        assert found["podTemplateSelectStrategy"]["selectors"] == [
            {"selectionKey": "small", "type": ["compact"], "context.tags": None, "dataSource": None}
        ]
        with pytest.raises(PartialFailure, match=r"capacity \(null\): this field cannot be reset to its default"):
            direct.dynamic_config(kubernetes_task_runner={"capacity": None})
        kinds = [each["id"] for each in dynamic_config_info(direct.client, {"id": None})]
        assert kinds == ["coordinator", "overlord", "kubernetes_task_runner", "broker", "compaction"]
