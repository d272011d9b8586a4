# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster that is as it should be is left alone: counted in the audit log, for every field that is rendered."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.validate import validate
from ansible_collections.druidops.druid.tests.system.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.live import Live, without_status
from ansible_collections.druidops.druid.tests.system.waiting import eventually
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import recording
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.render import features


def distinct_features() -> dict[str, dict[str, Any]]:
    """Return the resource of each feature that can be applied by the feature's name, one for those that are the same."""
    found: dict[str, dict[str, Any]] = {}
    for case in features.FEATURES:
        resource = without_pods(features.resource(case))
        if resource not in found.values() and not validate(Cluster.from_resource(resource)):
            found[case.name] = resource
    return found


def without_pods(resource: dict[str, Any]) -> dict[str, Any]:
    """Return the resource without pods, which only take time: what is compared is their template."""
    nodes = {
        key: node if "hpAutoscaler" in node else {**node, "replicas": 0}
        for key, node in resource["spec"]["nodes"].items()
    }
    return {**resource, "spec": {**resource["spec"], "nodes": nodes}}


FEATURES = distinct_features()


def stored(resource: dict[str, Any], live: Live) -> str:
    """Create the resource in the namespace and return its name."""
    manifest = deepcopy(resource)
    manifest["metadata"] = {"name": resource["metadata"]["name"]}
    for reference in manifest["spec"].get("extraCommonConfig") or []:
        reference["namespace"] = live.namespace
    name: str = live.create(manifest)["metadata"]["name"]
    return name


def settles(live: Live, name: str) -> None:
    """The first pass makes everything, none after it writes an object, and in the end none writes at all."""
    first = one_pass(live, name)
    assert first.report is not None
    assert first.report.problems == ()
    assert first.changed
    after_first = live.mark()

    def writes_nothing() -> bool:
        mark = live.mark()
        outcome = one_pass(live, name)
        assert not outcome.changed
        return not live.writes(mark)

    eventually(writes_nothing)
    assert without_status(live.writes(after_first)) == []


@pytest.mark.parametrize("feature", FEATURES)
def test_settles_with_every_feature(live: Live, feature: str) -> None:
    settles(live, stored(FEATURES[feature], live))


@pytest.mark.parametrize("name", recording.NAMES)
def test_settles_with_what_the_go_operator_runs(live: Live, name: str) -> None:
    settles(live, stored(without_pods(recording.resource(name, "applied")), live))
