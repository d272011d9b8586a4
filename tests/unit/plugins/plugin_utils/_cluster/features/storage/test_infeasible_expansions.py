# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An expansion that the driver reports as infeasible is a problem, with the driver's words."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.claim_patches import pvc_updates
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.expansion import (
    deferred,
    infeasible_expansions,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, orphans, rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import decided, inputs

TEMPLATES: list[Any] = [{"metadata": {"name": "d"}, "spec": {"resources": {"requests": {"storage": "9Ti"}}}}]
FAILED = {"type": "ControllerResizeError", "status": "True", "message": "exceeds the limit of the array."}


def growing(name: str, state: str, conditions: tuple[dict[str, str], ...] = ()) -> dict[str, Any]:
    resources = {"requests": {"storage": "9Ti"}}
    status = {"phase": "Bound", "capacity": {"storage": "1Gi"}, "allocatedResourceStatuses": {"storage": state}}
    found = {"spec": {"resources": resources}, "status": {**status, "conditions": list(conditions)}}
    return {**orphans.claim(name), **found}


def observed(which: Cluster, state: str, conditions: tuple[dict[str, str], ...] = ()) -> Observed:
    return orphans.observed(which, [growing("d-druid-c-brokers-0", state, conditions)])


CASES: dict[str, tuple[str, tuple[dict[str, str], ...], str | None]] = {
    "infeasible": ("ControllerResizeInfeasible", (), ": ControllerResizeInfeasible. Lower"),
    "with a message": ("NodeResizeInfeasible", (FAILED,), ": NodeResizeInfeasible: exceeds the limit of the array. L"),
    "before Kubernetes 1.31": ("ControllerResizeFailed", (), ": ControllerResizeFailed. Lower"),
    "under way": ("ControllerResizeInProgress", (), None),
    "no state": ("", (), None),
}


@pytest.mark.parametrize(("state", "conditions", "expected"), CASES.values(), ids=CASES)
def test_finding(state: str, conditions: tuple[dict[str, str], ...], expected: str | None) -> None:
    which = druid.cluster({"volumeClaimTemplates": TEMPLATES}, scalePvcSts=True)
    found = infeasible_expansions(inputs(which, observed(which, state, conditions)))
    assert len(found) == (expected is not None)
    for each in found:
        assert expected is not None
        assert expected in each.message
        assert (each.reason, each.object) == ("VolumesNotExpandable", "PersistentVolumeClaim d-druid-c-brokers-0")
        plan = decided(inputs(which, observed(which, state, conditions)))
        assert [finding.is_problem for finding in plan.findings] == [True, False]


@pytest.mark.parametrize(
    ("states", "waiting"),
    [
        (("ControllerResizeInfeasible", "NodeResizeInfeasible"), {}),
        (("ControllerResizeInfeasible", "ControllerResizeInProgress"), {"middlemanagers": "historicals"}),
    ],
)
def test_another_group_does_not_wait(states: tuple[str, str], waiting: dict[str, str]) -> None:
    nodes = {key: {"volumeClaimTemplates": TEMPLATES} for key in ("historicals", "middlemanagers")}
    which = rolling.cluster(nodes=nodes, scalePvcSts=True)
    small = orphans.claim("d-druid-c-middlemanagers-0", "druid-c-middlemanagers")
    claims = [growing(f"d-druid-c-historicals-{ordinal}", state) for ordinal, state in enumerate(states)]
    small["spec"]["storageClassName"] = "s"
    live = rolling.observed(which).with_objects([*claims, small])
    found = inputs(which, live, classes={"s": {"allowVolumeExpansion": True}})
    assert deferred(found) == waiting
    expected = [] if waiting else ["d-druid-c-middlemanagers-0"]
    assert [step.key.name for step in pvc_updates(found)] == expected
