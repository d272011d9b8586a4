# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Warnings about steps that make a part of Druid unavailable."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout_warnings import rollout_warnings
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs

Manifest = dict[str, Any]


def workload(name: str, replicas: int = 2, image: str = "a", **spec: Any) -> Manifest:
    body = {"replicas": replicas, "template": {"image": image}, **spec}
    return {"kind": "StatefulSet", "metadata": {"name": name, "namespace": "ns"}, "spec": body}


def restart(group: str, replicas: int = 2, **spec: Any) -> Step:
    live, after = (workload(group, replicas, image, **spec) for image in "ab")
    return Step("update", after, group, live, after)


def deletion(live: Manifest, group: str | None = None) -> Step:
    return Step("delete", live, group, live)


def cluster(**spec: Any) -> Cluster:
    return Cluster.from_resource(druid.resource(**spec))


ROLLING = cluster(rollingDeploy=True)
ON_DELETE = {"updateStrategy": {"type": "OnDelete"}}
# (id, cluster, steps, part of the warning)
TABLE: list[tuple[str, Cluster, list[Step], str | None]] = [
    ("two groups", ROLLING, [restart("a"), restart("b")], "the groups a, b restart at the same time"),
    ("one group", ROLLING, [restart("a")], None),
    ("a specified parallel rollout", cluster(rollingDeploy=False), [restart("a"), restart("b")], None),
    ("one without pods", ROLLING, [restart("a"), restart("b", 0)], None),
    ("one with OnDelete", ROLLING, [restart("a"), restart("b", **ON_DELETE)], None),
    ("a removed group", ROLLING, [deletion(workload("a"))], "StatefulSet a is deleted without waiting for the pods"),
    ("a removed group without pods", ROLLING, [deletion(workload("a", 0))], None),
    ("another kind", ROLLING, [deletion(workload("a"), "a")], None),
]


@pytest.mark.parametrize(("which", "steps", "message"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_rollout_warnings(which: Cluster, steps: list[Step], message: str | None) -> None:
    found = rollout_warnings(steps, inputs(which, Observed()))
    assert len(found) == (message is not None)
    assert message is None or message in found[0]
