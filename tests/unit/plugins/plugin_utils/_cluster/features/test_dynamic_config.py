# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The dynamic configurations of a cluster: what is desired, what it waits for, and which changes are written."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Mapping
from itertools import permutations
from typing import Any, cast

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ApiError, Unreachable
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_configs import (
    KINDS,
    SpecifiedConfigs,
    specified,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.dynamic_config import (
    ChangeConfig,
    DynamicConfig,
    due,
    unready_servers,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import (
    DYNAMIC_CONFIGS,
    ConfigChanges,
    find_configs,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import ConnectionUnavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, StepResult, execute
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import masked_excerpts
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import deciding, druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._druid_api.fake_druid import FakeDruid

Groups = dict[str, tuple[str, Any]]

ONE, TWO, LIST, TWO_MORE = {"a": 1, "b": [1, 2]}, {"a": 2}, {"b": [2]}, {"c": 3, "d": 4}
COORDINATOR = "/druid/coordinator/v1/config"


def cluster(groups: Groups | None = None, **spec: Any) -> Cluster:
    """Return a cluster whose groups have these types and dynamic configurations."""
    nodes = {
        key: {**druid.NODE, "nodeType": kind, **({} if config is None else {"dynamicConfig": config})}
        for key, (kind, config) in (groups or {}).items()
    }
    return druid.cluster(nodes=nodes, **spec)


# (configuration of the cluster, groups, desired configuration)
TABLE: list[tuple[Any, Groups, dict[str, Any]]] = [
    (None, {}, {}),
    ({}, {"c": ("coordinator", {})}, {}),
    ({"coordinator": {}, "overlord": None}, {}, {}),
    (dict.fromkeys(KINDS, ONE), {}, dict.fromkeys(KINDS, ONE)),
    (None, {"anything": ("coordinator", ONE)}, {"coordinator": ONE}),
    (None, {"middlemanagers": ("middleManager", ONE)}, {"overlord": ONE}),
    (None, {"a": ("indexer", ONE), "b": ("broker", TWO)}, {"overlord": ONE, "broker": TWO}),
    # a field is replaced completely, also with null
    ({"coordinator": ONE}, {"c": ("coordinator", LIST)}, {"coordinator": {"a": 1, "b": [2]}}),
    ({"coordinator": ONE}, {"c": ("coordinator", {"b": None})}, {"coordinator": {"a": 1, "b": None}}),
    ({"overlord": {"s": {"t": "x", "y": 1}}}, {"o": ("overlord", {"s": {"t": "z"}})}, {"overlord": {"s": {"t": "z"}}}),
    # groups with equal values, and groups with different fields
    (None, {"a": ("indexer", ONE), "b": ("overlord", ONE), "c": ("indexer", TWO_MORE)}, {"overlord": ONE | TWO_MORE}),
    # unknown kinds and fields
    ({"historical": ONE, "maxSegmentsToMove": 5}, {"h": ("historical", ONE)}, {}),
]  # fmt: skip


@pytest.mark.parametrize(("level", "groups", "desired"), TABLE)
def test_desired_configuration(level: Any, groups: Groups, desired: dict[str, Any]) -> None:
    found = specified(cluster(groups, dynamicConfig=level))
    assert (found.configs, found.findings) == (desired, ())


def test_kinds_match_those_of_the_client() -> None:
    assert set(KINDS) == set(DYNAMIC_CONFIGS)


@pytest.mark.parametrize("other", [{"a": 2}, {"a": "1"}, {"a": True}, {"a": None}, {"a": [1]}])
def test_groups_with_conflicting_values(other: dict[str, Any]) -> None:
    groups: Groups = {"x": ("middleManager", {"a": 1}), "y": ("indexer", other), "z": ("coordinator", ONE)}
    found = specified(cluster(groups, dynamicConfig={"overlord": {"a": 3}}))
    assert found.configs == {"coordinator": ONE}
    [finding] = found.findings
    assert (finding.reason, finding.is_problem) == ("InvalidSpec", True)
    assert "spec.nodes[x].dynamicConfig.a (1) and spec.nodes[y].dynamicConfig.a (" in finding.message
    assert "spec.dynamicConfig.overlord" in finding.message


def test_order_of_groups_has_no_effect() -> None:
    groups = [("a", ("overlord", {"x": 1})), ("b", ("indexer", {"y": 2})), ("c", ("middleManager", {"x": 1, "z": 3}))]
    found = [specified(cluster(dict(order))) for order in permutations(groups)]
    assert all(each == found[0] for each in found)
    assert found[0].configs == {"overlord": {"x": 1, "y": 2, "z": 3}}


def test_long_value_is_truncated() -> None:
    groups: Groups = {"x": ("overlord", {"a": "v" * 1000}), "y": ("overlord", {"a": 1})}
    [finding] = specified(cluster(groups)).findings
    assert len(masked_excerpts(finding.message, str)) < 500


@pytest.mark.parametrize(
    ("level", "groups", "message"),
    [
        ({"historical": {}}, {}, "spec.dynamicConfig.historical has no effect"),
        (None, {"h": ("historical", ONE)}, "spec.nodes[h].dynamicConfig has no effect"),
        (None, {"r": ("router", ONE)}, "no dynamic configuration for a router"),
    ],
)
def test_configuration_without_effect_is_a_warning(level: Any, groups: Groups, message: str) -> None:
    [warning] = specified(cluster(groups, dynamicConfig=level)).warnings
    assert message in warning


def test_warnings_are_in_a_fixed_order() -> None:
    names = [f"{letter}-kind" for letter in "hgfedcba"]
    warnings = specified(cluster({}, dynamicConfig={name: {} for name in names})).warnings
    assert [text.partition(" ")[0] for text in warnings] == [f"spec.dynamicConfig.{name}" for name in sorted(names)]


def observed(**ready: int) -> Observed:
    """Return the workloads of these groups with these numbers of ready pods."""
    status = {key: {"readyReplicas": pods} if pods else {} for key, pods in ready.items()}
    return Observed().with_objects(
        {"kind": "StatefulSet", "metadata": {"name": f"druid-c-{key}"}, "status": status[key]} for key in ready
    )


ROUTER, BOTH = {"r": ("router", None)}, {"r": ("router", None), "c": ("coordinator", None)}
ALL = {**BOTH, "o": ("overlord", None)}
READY: list[tuple[Groups, dict[str, int], str, tuple[str, ...]]] = [
    (BOTH, {}, "coordinator", ("r", "c")),
    (BOTH, {"r": 0, "c": 1}, "coordinator", ("r",)),
    (BOTH, {"r": 1, "c": 0}, "broker", ("c",)),
    (BOTH, {"r": 2, "c": 1}, "coordinator", ()),
    # a Coordinator that is also the Overlord, and one that is not
    (BOTH, {"r": 1, "c": 1}, "overlord", ()),
    (ALL, {"r": 1, "c": 1, "o": 0}, "overlord", ("o",)),
    (ALL, {"r": 1, "c": 0, "o": 1}, "kubernetesTaskRunner", ()),
    (ALL, {"r": 1, "c": 1, "o": 0}, "coordinator", ()),
    # one of several groups is sufficient
    ({**BOTH, "c2": ("coordinator", None)}, {"r": 1, "c": 0, "c2": 1}, "coordinator", ()),
    ({**BOTH, "c2": ("coordinator", None)}, {"r": 1}, "coordinator", ("c", "c2")),
    # groups that the spec does not define are not awaited
    (ROUTER, {"r": 1}, "coordinator", ()),
    ({}, {}, "coordinator", ()),
]


@pytest.mark.parametrize(("groups", "ready", "kind", "names"), READY)
def test_awaited_groups(groups: Groups, ready: dict[str, int], kind: str, names: tuple[str, ...]) -> None:
    assert unready_servers(cluster(groups), observed(**ready), [kind]) == ({kind: names} if names else {})


def test_kinds_wait_independently() -> None:
    desired = cluster(ALL, dynamicConfig={"coordinator": ONE, "overlord": TWO})
    assert due(specified(desired), desired, observed(r=1, c=1, o=1)) == specified(desired)
    found = due(specified(desired), desired, observed(r=1, c=1))
    assert found.configs == {"coordinator": ONE}
    [finding] = found.findings
    assert (finding.reason, finding.is_problem) == ("WaitingForDruid", False)
    assert finding.message == "The dynamic configuration of overlord waits for a ready pod in o."


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
