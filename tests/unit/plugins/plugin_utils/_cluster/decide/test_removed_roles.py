# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A spec without groups deletes nothing, and the removal of the last group of a role is destructive."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.removal import Removal, removed_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.effects import role_warnings, with_effects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import draft

ALL = {
    "historicals": {"nodeType": "historical"},
    "middlemanagers": {"nodeType": "middleManager"},
    "brokers": {"nodeType": "broker"},
    "routers": {"nodeType": "router"},
    "overlords": {"nodeType": "overlord"},
    "coordinators": {"nodeType": "coordinator"},
}


def cluster(nodes: dict[str, Any], annotations: Any = None, **spec: Any) -> Cluster:
    groups = {key: {**druid.NODE, "replicas": 2, **fields} for key, fields in nodes.items()}
    resource = druid.resource(nodes=groups, **spec)
    resource["metadata"]["annotations"] = annotations or {}
    return Cluster.from_resource(resource)


def removals(before: Cluster, after: Cluster) -> tuple[tuple[Step, ...], Observed]:
    live = rolling.observed(before)
    return tuple(removed_objects(after, render(after), live)), live


@pytest.mark.parametrize("running", [ALL, {"brokers": {"nodeType": "broker", "replicas": 0}}], ids=["all", "no pods"])
def test_a_spec_without_groups_deletes_nothing(running: dict[str, Any]) -> None:
    emptied = cluster({})
    steps, live = removals(cluster(running), emptied)
    found = draft(emptied, live, steps)
    [finding] = Removal().judge(found)
    assert (finding.reason, finding.group, finding.is_problem) == (reasons.ALL_GROUPS_REMOVED, None, True)
    assert not found.with_findings([finding]).steps
    for part in ("StatefulSet druid-c-brokers", "spec.stopped: true", 'druid.apache.org/remove-all-groups to "true"'):
        assert part in finding.message


def test_a_spec_without_groups_deletes_them_if_that_is_confirmed() -> None:
    confirmed = cluster({}, {"druid.apache.org/remove-all-groups": "true"})
    steps, live = removals(cluster(ALL), confirmed)
    assert not Removal().judge(draft(confirmed, live, steps))
    assert all(step.is_destructive for step in with_effects(steps, live, confirmed) if step.key.kind == "StatefulSet")


def test_a_spec_without_groups_is_no_problem_if_there_is_nothing_to_delete() -> None:
    assert not Removal().judge(draft(cluster({}), Observed()))


# (removed groups, further spec, what is lost: a node type)
LOST: list[tuple[list[str], dict[str, Any], list[str]]] = [
    (["coordinators"], {}, ["coordinator"]),
    (["overlords"], {}, ["overlord"]),
    (["overlords"], {"common.runtime.properties": "druid.coordinator.asOverlord.enabled=true"}, []),
    (["overlords", "middlemanagers"], {}, []),
    (["brokers"], {}, ["broker"]),
    (["historicals"], {}, ["historical"]),
    (["middlemanagers"], {}, ["middleManager or indexer"]),
    (["middlemanagers"], {"common.runtime.properties": "druid.indexer.runner.type=k8s"}, []),
    (["routers"], {}, []),
    (["brokers", "coordinators"], {}, ["coordinator", "broker"]),
]


@pytest.mark.parametrize(("removed", "spec", "lost"), LOST)
def test_the_removal_of_the_last_group_of_a_role_is_destructive(
    removed: list[str], spec: dict[str, Any], lost: list[str]
) -> None:
    after = cluster({key: node for key, node in ALL.items() if key not in removed}, **spec)
    steps, live = removals(cluster(ALL, **spec), after)
    marked = [step.key.name for step in with_effects(steps, live, after) if step.is_destructive]
    warnings = [*role_warnings(after, steps)]
    assert len(marked) == len(lost)
    assert sorted(text.partition("nodeType ")[2].partition(" is left")[0] for text in warnings) == sorted(lost)


@pytest.mark.parametrize(
    "kept", [{"brokers-b": ALL["brokers"]}, {"brokers-b": {**ALL["brokers"], "kind": "Deployment"}}]
)
def test_another_group_of_the_role_is_enough(kept: dict[str, Any]) -> None:
    after = cluster({**{key: node for key, node in ALL.items() if key != "brokers"}, **kept})
    steps, live = removals(cluster(ALL), after)
    assert any(step.removes_group for step in steps)
    assert not any(step.is_destructive for step in with_effects(steps, live, after))
