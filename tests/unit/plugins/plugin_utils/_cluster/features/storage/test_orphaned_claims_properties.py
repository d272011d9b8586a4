# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whatever the cluster and its PVCs are: nothing is lost that a group wants, a pod mounts, or a person has unmarked."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.orphans import (
    orphaned_claims,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, orphans
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.orphans import (
    TEMPLATES,
    claim,
    marks,
    orphan_inputs,
)
from hypothesis import given
from hypothesis import strategies as st

Manifest = dict[str, Any]
ANNOTATION = "druid.apache.org/orphaned-since"
# Names that begin and end alike, and a template whose name ends like a group's.
KEYS = ("a", "a-1", "b", "d-druid-c-a")
TEMPLATE_NAMES = ("d", "e", "d-druid-c-a")
ORDINALS = st.integers(0, 4)
POLICIES = st.sampled_from((None, {"whenScaled": "Retain"}, {"whenScaled": "Delete"}))

GROUPS = st.builds(
    lambda replicas, stopped, policy, maximum: {
        **druid.NODE,
        "replicas": replicas,
        "stopped": stopped,
        "volumeClaimTemplates": TEMPLATES,
        **({"persistentVolumeClaimRetentionPolicy": policy} if policy else {}),
        **({"hpAutoscaler": orphans.autoscaler("any", maximum)["spec"]} if maximum else {}),
    },
    ORDINALS,
    st.booleans(),
    POLICIES,
    st.sampled_from((0, 0, 3)),
)
CLUSTERS = st.builds(
    lambda nodes, more: Cluster.from_resource(druid.resource(**{"nodes": nodes, "deleteOrphanPvc": True, **more})),
    st.dictionaries(st.sampled_from(KEYS), GROUPS, min_size=1),
    st.sampled_from(({}, {}, {"stopped": True}, {"paused": True}, {"deleteOrphanPvc": False})),
)
MARKS: st.SearchStrategy[Manifest] = st.one_of(
    st.just({}),
    st.builds(marks, st.sampled_from((0, 59, 60, 3600))),
    st.just({"annotations": marks(90)["annotations"]}),
    st.just({"labels": marks(90)["labels"]}),
    st.just(marks(90, annotated="never")),
)
CLAIMS = st.lists(
    st.builds(
        lambda template, key, ordinal, mark: claim(f"{template}-druid-c-{key}-{ordinal}", f"druid-c-{key}", **mark),
        st.sampled_from(TEMPLATE_NAMES),
        st.sampled_from(KEYS),
        ORDINALS,
        MARKS,
    ),
    max_size=12,
    unique_by=lambda each: each["metadata"]["name"],
)


def desired_by(cluster: Cluster, name: str) -> bool:
    """True if a group in the spec may want the PVC, by the names that the StatefulSet controller gives."""
    return any(
        name == f"d-druid-c-{key}-{ordinal}" and (_keeps(node) or ordinal < _needed(node))
        for key, node in cluster.spec["nodes"].items()
        for ordinal in range(5)
    )


def _keeps(node: Manifest) -> bool:
    policy = (node.get("persistentVolumeClaimRetentionPolicy") or {}).get("whenScaled")
    return bool(node["stopped"] or policy == "Retain" or not _needed(node))


def _needed(node: Manifest) -> int:
    return max(node["replicas"], (node.get("hpAutoscaler") or {"maxReplicas": 0})["maxReplicas"])


def losing(steps: tuple[Step, ...]) -> list[Step]:
    return [step for step in steps if step.is_destructive]


@given(CLUSTERS, CLAIMS, st.lists(st.tuples(st.sampled_from(TEMPLATE_NAMES), st.sampled_from(KEYS), ORDINALS)))
def test_nothing_that_is_used_is_lost(
    cluster: Cluster, claims: list[Manifest], mounted: list[tuple[str, str, int]]
) -> None:
    names = {f"{template}-druid-c-{key}-{ordinal}" for template, key, ordinal in mounted}
    pods = [orphans.pod(f"p-{name}", name) for name in sorted(names)]
    before = {each["metadata"]["name"]: each for each in claims}
    steps = orphaned_claims(orphan_inputs(cluster, claims, pods))
    for step in losing(steps):
        assert step.key.name not in names
        assert not desired_by(cluster, step.key.name)
        assert cluster.deletes_orphans
        assert not cluster.stopped
        assert not cluster.spec.get("paused")
        metadata = before[step.key.name]["metadata"]
        is_labelled = "toBeDeleted" in metadata["labels"]
        since = (metadata.get("annotations") or {}).get(ANNOTATION)
        assert since != "never"
        assert is_labelled or since is None
        if step.operation.verb == "delete":
            assert is_labelled
            assert since in {marks(seconds)["annotations"][ANNOTATION] for seconds in (60, 3600)}


@given(CLUSTERS, CLAIMS)
def test_steps_lead_to_a_state_without_steps(cluster: Cluster, claims: list[Manifest]) -> None:
    """After the marks and deletions there is nothing to do until the grace period is over."""
    live = {each["metadata"]["name"]: each for each in claims}
    for step in orphaned_claims(orphan_inputs(cluster, claims)):
        if step.after is None:
            del live[step.key.name]
        else:
            live[step.key.name] = step.after
    assert orphaned_claims(orphan_inputs(cluster, live.values())) == ()
