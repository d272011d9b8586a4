# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The dynamic configurations of a cluster: which changes are written, and which values Druid normalizes."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from typing import Any, cast

from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ApiError, Unreachable
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_configs import SpecifiedConfigs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.dynamic_config import DynamicConfig
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.dynamic_config.steps import (
    ChangeConfig,
    without_known,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import ConfigChanges, Narrow, find_configs
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import ConnectionUnavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, StepResult, execute
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import deciding, druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._druid_api.fake_druid import FakeDruid

COORDINATOR = "/druid/coordinator/v1/config"


class Coordinator(FakeDruid):
    """A Coordinator that stores known fields only, and no value above 10."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = dict(config)
        super().__init__({COORDINATOR: self.config})

    def post(self, path: str, body: Mapping[str, Any], **_options: Any) -> None:
        """Write the configuration."""
        assert path == COORDINATOR
        self.config.update({name: min(10, body[name]) for name in self.config if name in body})


def written(
    coordinator: Any, changes: Iterable[DruidChange], known: Mapping[str, str]
) -> tuple[tuple[StepResult[Any], ...], Mapping[str, Any]]:
    """Write the changes, and return the results and what the status has of them afterwards."""
    results = execute(map(ChangeConfig.of, changes), Context(cast(KubernetesApi, None), lambda _purpose: coordinator))
    resource = {**druid.resource(), "status": {"dynamicConfig": known}}
    return results, DynamicConfig().status(ClusterResult(resource, druid.cluster(), Observed(), Plan(), results))


def test_normalized_value_is_written_once() -> None:
    coordinator = Coordinator({"maxSegmentsToMove": 5, "replicantLifetime": 1})
    desired = {"coordinator": {"maxSegmentsToMove": 20}}
    first = find_configs(coordinator, desired, without_known({}))
    assert [change.title for change in first.changes] == ["update dynamic configuration of the Coordinator"]
    assert pickle.loads(pickle.dumps(first)) == first
    [result], status = written(coordinator, first.changes, {})
    assert [state["maxSegmentsToMove"] for state in result.step.states] == [5, 10]
    assert [text for text in result.warnings if "Druid normalizes maxSegmentsToMove" in text]
    known = status["dynamicConfig"]
    assert known == {"coordinator": digest([desired["coordinator"], coordinator.config])}
    again = find_configs(coordinator, desired, without_known(known))
    assert (again.changes, bool(again.warnings)) == ((), True)
    # until the spec or the configuration in Druid changes
    assert find_configs(coordinator, {"coordinator": {"maxSegmentsToMove": 30}}, without_known(known)).changes
    coordinator.config["replicantLifetime"] = 2
    assert find_configs(coordinator, desired, without_known(known)).changes


def test_value_that_druid_keeps_is_not_recorded() -> None:
    coordinator = Coordinator({"maxSegmentsToMove": 5})
    changes = find_configs(coordinator, {"coordinator": {"maxSegmentsToMove": 7}}, without_known({})).changes
    [result], status = written(coordinator, changes, {"coordinator": "1", "overlord": "2"})
    assert (result.warnings, status) == ((), {"dynamicConfig": {"overlord": "2"}})


def test_a_rejected_change_is_not_recorded_and_names_its_object() -> None:
    class Rejecting(Coordinator):
        def post(self, path: str, body: Mapping[str, Any], **_options: Any) -> None:
            """Reject the configuration."""
            raise ApiError(400, "no", "POST", path)

    changes = find_configs(
        Rejecting({"maxSegmentsToMove": 5}), {"coordinator": {"maxSegmentsToMove": 7}}, without_known({})
    ).changes
    [result], status = written(Rejecting({}), changes, {"coordinator": "1"})
    assert (result.error or "").startswith("Dynamic configuration of the Coordinator: ")
    assert (result.reason, status) == ("RejectedByDruid", {})


class Unavailable(FakeDruid):
    """A Druid that does not respond."""

    def get(self, path: str, params: Mapping[str, str] | None = None) -> Any:
        """Fail."""
        raise Unreachable("GET", path, "refused", sent=False, is_transient=True)


def test_connection_error_stops_all_further_requests() -> None:
    client: Any = Unavailable({})
    unread = find_configs(client, {"coordinator": {"a": 1}, "overlord": {"a": 1}}, without_known({}))
    [finding] = unread.findings
    assert finding.reason == "DruidUnreachable"
    assert finding.message.startswith("Dynamic configuration of the Coordinator: ")
    assert unread.changes == ()


class Answers(deciding.Answers):
    """A Druid with these dynamic configurations; without a router if there are none."""

    def __init__(self, client: Any = None) -> None:
        super().__init__()
        self.client = client

    def config_changes(self, _result: Any, configs: Mapping[str, Mapping[str, Any]], narrow: Narrow) -> ConfigChanges:
        if self.client is None:
            raise ConnectionUnavailable("RouterNotFound", "no router")
        return find_configs(self.client, configs, narrow)


def test_a_druid_that_cannot_be_connected_is_a_finding() -> None:
    result = ClusterResult(druid.resource(), druid.cluster(), Observed(), Plan())
    desired = SpecifiedConfigs({"coordinator": {"maxSegmentsToMove": 7}})
    plan = DynamicConfig().in_druid(result, desired, Answers(Coordinator({"maxSegmentsToMove": 5})))
    assert (plan.titles, plan.findings) == (["update dynamic configuration of the Coordinator in Druid"], ())
    plan = DynamicConfig().in_druid(result, desired, Answers())
    assert (plan.titles, [each.message for each in plan.findings]) == ([], ["no router"])
    assert DynamicConfig().in_druid(result, SpecifiedConfigs({}), Answers()) == Plan()
