# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A running group keeps its selector and labels; a new one gets a selector that allows labels to change."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import Preserved, kept_replicas
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, recording
from hypothesis import given
from hypothesis import strategies as st

FIXED = {"app": "druid", "component": "broker", "druid_cr": "c", "nodeSpecUniqueStr": "druid-c-brokers"}
OLD = {**FIXED, "team": "data"}


def objects(preserved: Preserved, node: dict[str, Any]) -> dict[str, dict[str, Any]]:
    node = {"services": [{}], "podDisruptionBudgetSpec": {"maxUnavailable": 1}, **node}
    desired = render(druid.cluster(node), {"brokers": preserved})
    return {manifest["kind"]: manifest for manifest in desired.groups["brokers"]}


@pytest.mark.parametrize(
    ("preserved", "labels", "template_labels", "selector"),
    [
        (None, {}, {}, FIXED),
        (None, {"team": "data"}, {}, FIXED),
        (FIXED, {"team": "data"}, {}, FIXED),
        (OLD, {"team": "data"}, {}, OLD),
        (OLD, {"team": "data", "more": "1"}, {}, OLD),
        (OLD, {}, {"team": "data"}, OLD),
        (OLD, {"team": "other"}, {}, FIXED),
        (OLD, {}, {}, FIXED),
        (OLD, {"team": "data"}, {"team": "other"}, FIXED),
        (OLD, {"team": "data"}, {"team": None}, OLD),
    ],
)
def test_selector(
    preserved: dict[str, str] | None, labels: dict[str, str], template_labels: dict[str, Any], selector: dict[str, str]
) -> None:
    node = {"podLabels": labels, "podTemplate": {"metadata": {"labels": template_labels}}}
    found = objects(Preserved(preserved, preserved), node)
    assert found["StatefulSet"]["spec"]["selector"] == {"matchLabels": selector}
    assert found["PodDisruptionBudget"]["spec"]["selector"] == {"matchLabels": selector}
    assert found["Service"]["spec"]["selector"] == selector


RECOMMENDED = names.recommended_labels("c", "broker")


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        (None, {**FIXED, **RECOMMENDED}),
        (FIXED, FIXED),
        ({**FIXED, **RECOMMENDED}, {**FIXED, **RECOMMENDED}),
        (
            {**FIXED, "app.kubernetes.io/name": "x"},
            {**FIXED, "app.kubernetes.io/name": "druid"},
        ),
    ],
)
def test_recommended_labels_do_not_restart_pods(live: dict[str, str] | None, expected: dict[str, str]) -> None:
    found = objects(Preserved(FIXED, live), {})
    assert found["StatefulSet"]["spec"]["template"]["metadata"]["labels"] == expected


LABELS = st.dictionaries(st.sampled_from(["a", "b", "app", "component"]), st.sampled_from(["1", "druid"]))


@given(LABELS, LABELS, LABELS)
def test_selector_always_matches_the_pods(
    labels: dict[str, str], template_labels: dict[str, str], selector: dict[str, str]
) -> None:
    node = {"podLabels": labels, "podTemplate": {"metadata": {"labels": template_labels}}}
    spec = objects(Preserved(selector, labels), node)["StatefulSet"]["spec"]
    assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    assert FIXED.items() <= spec["template"]["metadata"]["labels"].items()


# (live replicas, annotation, kept replicas)
KEPT_REPLICAS: dict[str, tuple[int | None, str | None, int]] = {
    "stopped": (0, "7", 7),
    "ten digits": (0, "2147483647", 2147483647),
    "running": (2, "7", 2),
    "running with the default": (None, "7", 1),
    "no annotation": (0, None, 0),
    "empty": (0, "", 0),
    "negative": (0, "-1", 0),
    "other digits": (0, "\u0667", 0),
    "a line too many": (0, "7\n", 0),
    "eleven digits": (0, "1" * 11, 0),
    "more digits than Python converts": (0, "9" * 5000, 0),
}


@pytest.mark.parametrize(("live", "annotation", "kept"), KEPT_REPLICAS.values(), ids=KEPT_REPLICAS)
def test_only_a_stopped_group_has_a_number_of_pods_before(live: int | None, annotation: str | None, kept: int) -> None:
    annotations = {} if annotation is None else {"druid.apache.org/replicas-before-stop": annotation}
    spec = {} if live is None else {"replicas": live}
    assert kept_replicas({"metadata": {"annotations": annotations}, "spec": spec}) == kept


def test_fields_are_preserved_from_a_live_workload() -> None:
    workload = recording.owned_objects("hand")["StatefulSet", "druid-hand-historicals-hot"]
    kept = Preserved.from_workload(workload)
    assert kept.selector == workload["spec"]["selector"]["matchLabels"]
    assert kept.template_labels == workload["spec"]["template"]["metadata"]["labels"]
    assert kept.configuration_hash == "9R4jCWkJ+C8hKwcNZ2UWN0AFdVI=-Ct1Iy3cS3W2nLcXyGOzxUe0zbfI="


def test_no_hash_without_our_container() -> None:
    foreign = {"metadata": {"name": "x"}, "spec": {"template": {"spec": {"containers": [{"name": "y"}]}}}}
    assert Preserved.from_workload(foreign) == Preserved(
        None, None, None, has_empty_affinity=False, retains_scaled_pvcs=True
    )


@pytest.mark.parametrize(
    ("live", "desired_affinity", "expected"),
    [
        ({}, None, {}),
        (None, None, None),
        ({"podAffinity": {}}, None, None),
        ({"podAffinity": {}}, {}, None),
        (None, {"podAffinity": {}}, {"podAffinity": {}}),
    ],
)
def test_emptied_affinity_is_removed(live: Any, desired_affinity: Any, expected: Any) -> None:
    template = {"containers": [], **({} if live is None else {"affinity": live})}
    preserved = Preserved.from_workload({"metadata": {"name": "x"}, "spec": {"template": {"spec": template}}})
    node = {} if desired_affinity is None else {"affinity": desired_affinity}
    workload = objects(preserved, node)["StatefulSet"]
    assert workload["spec"]["template"]["spec"].get("affinity") == expected


def test_rendered_workload_is_unchanged_by_its_preserved_fields() -> None:
    cluster = Cluster.from_resource(druid.resource({"podLabels": {"a": "1"}}))
    first = render(cluster)
    [workload] = [manifest for manifest in first.objects if manifest["kind"] == "StatefulSet"]
    assert render(cluster, {"brokers": Preserved.from_workload(workload)}) == first
