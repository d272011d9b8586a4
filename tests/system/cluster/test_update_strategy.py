# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A running group changes how its pods are replaced: the server's parameters of the old way go with it."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from ansible_collections.druidops.druid.tests.system.support import full_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import only_first
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.full_cluster import NAME, STATEFUL, STATELESS
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient


class Strategy(NamedTuple):
    """The field of a kind of workload for its update strategy, and the strategy without parameters."""

    kind: str
    name: str
    group: str
    field: str
    other_type: str
    parameter: str


STRATEGIES = [
    Strategy("StatefulSet", STATEFUL, "historicals", "updateStrategy", "OnDelete", "partition"),
    Strategy("Deployment", STATELESS, "brokers", "strategy", "Recreate", "maxSurge"),
]
ROLLING = {"type": "RollingUpdate"}


def of(live: NamespaceClient, strategy: Strategy) -> dict[str, Any]:
    """Return how the workload's pods are replaced."""
    found: dict[str, Any] = live.get(strategy.kind, strategy.name)["spec"][strategy.field]
    return found


def is_observed(live: NamespaceClient, strategy: Strategy) -> bool:
    workload = live.get(strategy.kind, strategy.name)
    return bool((workload.get("status") or {}).get("observedGeneration") == workload["metadata"]["generation"])


def change(live: NamespaceClient, strategy: Strategy, desired: dict[str, Any] | None) -> None:
    """Change the resource, verify that check mode predicts it, and that one reconcile applies it permanently."""
    # Until then, any pod may have an old revision.
    eventually(lambda: is_observed(live, strategy), 30)
    live.merge("Druid", NAME, {"spec": {"nodes": {strategy.group: {strategy.field: desired}}}})
    uid = live.get(strategy.kind, strategy.name)["metadata"]["uid"]
    checked, done = one_pass(live, NAME, check_mode=True).plan, one_pass(live, NAME).plan
    for plan in (checked, done):
        assert plan.findings == ()
        assert [tuple(step.key) for step in plan.steps] == [(strategy.kind, strategy.name)]
        assert not any(step.restart.is_requested for step in plan.steps)
    predicted = checked.steps[0].after
    assert predicted is not None
    assert predicted["spec"][strategy.field] == of(live, strategy)
    assert live.get(strategy.kind, strategy.name)["metadata"]["uid"] == uid
    assert one_pass(live, NAME).plan.steps == ()


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda each: each.kind)
@pytest.mark.parametrize(
    ("is_edited", "back"),
    only_first(
        2,
        [(False, ROLLING), (True, None), (False, None), (True, ROLLING)],
        "two of the four combinations",
    ),
)
def test_other_strategy_and_back(
    live: NamespaceClient, strategy: Strategy, is_edited: bool, back: dict[str, Any] | None
) -> None:
    full_cluster.create(live)
    assert one_pass(live, NAME).plan.findings == ()
    if is_edited:
        edited = {"rollingUpdate": {strategy.parameter: 1}}
        live.merge(strategy.kind, strategy.name, {"spec": {strategy.field: edited}})
    assert strategy.parameter in of(live, strategy)["rollingUpdate"]
    change(live, strategy, {"type": strategy.other_type})
    assert of(live, strategy) == {"type": strategy.other_type}
    change(live, strategy, back)
    assert of(live, strategy)["type"] == "RollingUpdate"


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda each: each.kind)
def test_rolling_update_with_its_own_parameters(live: NamespaceClient, strategy: Strategy) -> None:
    own = {**ROLLING, "rollingUpdate": {strategy.parameter: 1}}
    node = {"kind": strategy.kind, strategy.field: own}
    groups = {"historicals": full_cluster.historicals(), "brokers": full_cluster.brokers()}
    full_cluster.create(live, **{**groups, strategy.group: {**groups[strategy.group], **node}})
    assert one_pass(live, NAME).plan.findings == ()
    assert of(live, strategy)["rollingUpdate"][strategy.parameter] == 1
    change(live, strategy, {"type": strategy.other_type, "rollingUpdate": None})
    assert of(live, strategy) == {"type": strategy.other_type}
