# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The dynamic configurations of a cluster: which changes are written."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Mapping
from typing import Any, cast

from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ApiError, Unreachable
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_configs import SpecifiedConfigs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.dynamic_config import DynamicConfig
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.dynamic_config.steps import ChangeConfig
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import ConfigChanges, find_configs
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import ConnectionUnavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, StepResult, execute
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import deciding, druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._druid_api.fake_druid import FakeDruid

COORDINATOR = "/druid/coordinator/v1/config"


class Coordinator(FakeDruid):
    """A Coordinator that stores known fields only, and no value above 10."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = dict(config)
        self.rows: list[Any] = []
        super().__init__({COORDINATOR: self.config, f"{COORDINATOR}/history": self.rows})

    def post(self, path: str, body: Mapping[str, Any], *, audit: Mapping[str, str], **_options: Any) -> None:
        """Write the configuration."""
        assert path == COORDINATOR
        self.config.update({name: min(10, body[name]) for name in self.config if name in body})
        row = {"auditInfo": {"comment": audit["X-Druid-Comment"]}, "payload": json.dumps(self.config)}
        self.rows.insert(0, row)


def written(coordinator: Any, changes: Iterable[DruidChange]) -> tuple[StepResult[Any], ...]:
    """Write the changes, and return the results."""
    return execute(map(ChangeConfig.of, changes), Context(cast(KubernetesApi, None), lambda _purpose: coordinator))


def test_normalized_value_is_written_once() -> None:
    coordinator = Coordinator({"maxSegmentsToMove": 5, "replicantLifetime": 1})
    desired = {"coordinator": {"maxSegmentsToMove": 20}}
    first = find_configs(coordinator, desired)
    assert [change.title for change in first.changes] == ["update dynamic configuration of the Coordinator"]
    assert pickle.loads(pickle.dumps(first)) == first
    [result] = written(coordinator, first.changes)
    assert [state["maxSegmentsToMove"] for state in result.step.states] == [5, 10]
    assert [text for text in result.warnings if "Druid normalizes maxSegmentsToMove" in text]
    again = find_configs(coordinator, desired)
    assert (again.changes, bool(again.warnings)) == ((), True)


def test_a_rejected_change_names_its_object() -> None:
    class Rejecting(Coordinator):
        def post(self, path: str, body: Mapping[str, Any], **_options: Any) -> None:
            """Reject the configuration."""
            raise ApiError(400, "no", "POST", path)

    changes = find_configs(Rejecting({"maxSegmentsToMove": 5}), {"coordinator": {"maxSegmentsToMove": 7}}).changes
    [result] = written(Rejecting({}), changes)
    assert (result.error or "").startswith("Dynamic configuration of the Coordinator: ")
    assert result.reason == "RejectedByDruid"


class Unavailable(FakeDruid):
    """A Druid that does not respond."""

    def get(self, path: str, params: Mapping[str, str] | None = None) -> Any:
        """Fail."""
        raise Unreachable("GET", path, "refused", sent=False, is_transient=True)


def test_connection_error_stops_all_further_requests() -> None:
    client: Any = Unavailable({})
    unread = find_configs(client, {"coordinator": {"a": 1}, "overlord": {"a": 1}})
    [finding] = unread.findings
    assert finding.reason == "DruidUnreachable"
    assert finding.message.startswith("Dynamic configuration of the Coordinator: ")
    assert unread.changes == ()


class Answers(deciding.Answers):
    """A Druid with these dynamic configurations; without a router if there are none."""

    def __init__(self, client: Any = None) -> None:
        super().__init__()
        self.client = client

    def config_changes(self, _result: Any, configs: Mapping[str, Mapping[str, Any]]) -> ConfigChanges:
        if self.client is None:
            raise ConnectionUnavailable("RouterNotFound", "no router")
        return find_configs(self.client, configs)


def test_a_druid_that_cannot_be_connected_is_a_finding() -> None:
    result = ClusterResult(druid.resource(), druid.cluster(), Observed(), Plan())
    desired = SpecifiedConfigs({"coordinator": {"maxSegmentsToMove": 7}})
    plan = DynamicConfig().in_druid(result, desired, Answers(Coordinator({"maxSegmentsToMove": 5})))
    assert (plan.titles, plan.findings) == (["update dynamic configuration of the Coordinator in Druid"], ())
    plan = DynamicConfig().in_druid(result, desired, Answers())
    assert (plan.titles, [each.message for each in plan.findings]) == ([], ["no router"])
    assert DynamicConfig().in_druid(result, SpecifiedConfigs({}), Answers()) == Plan()
