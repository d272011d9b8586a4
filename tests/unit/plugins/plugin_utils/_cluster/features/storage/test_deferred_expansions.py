# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""For what the volumes of a group wait: for those of another one that grow, and for nothing that may take forever."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.expansion import deferred
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.patch import (
    Notice,
    UpdateClaim,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import orphans, rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import decided, inputs

FIRST, SECOND = "historicals", "middlemanagers"
OF_FIRST, OF_SECOND = (f"d-druid-c-{key}-0" for key in (FIRST, SECOND))
CLAIM = "PersistentVolumeClaim"


def sized(storage: str) -> list[Any]:
    return [{"metadata": {"name": "d"}, "spec": {"resources": {"requests": {"storage": storage}}}}]


def claim(name: str, requested: str = "1Gi") -> dict[str, Any]:
    """Return a bound PVC whose file system has 1 GiB."""
    found = orphans.claim(name, name.removeprefix("d-").removesuffix("-0"))
    found["spec"] = {"storageClassName": "s", "resources": {"requests": {"storage": requested}}}
    found["status"] = {"phase": "Bound", "capacity": {"storage": "1Gi"}}
    return found


def found(*claims: dict[str, Any], template: str = "1Gi", **more: Any) -> Inputs:
    """Return the inputs of two groups whose volumes are to have 2 GiB, and whose StatefulSets have this template."""
    nodes = {key: {"volumeClaimTemplates": sized(template)} for key in (FIRST, SECOND)}
    live = rolling.observed(rolling.cluster(nodes=nodes, scalePvcSts=True)).with_objects(claims)
    desired = {key: {"volumeClaimTemplates": sized("2Gi")} for key in (FIRST, SECOND)}
    which = rolling.cluster(nodes=desired, scalePvcSts=True)
    return inputs(which, live, classes={"s": {"allowVolumeExpansion": True}}, **more)


CASES: dict[str, tuple[Inputs, dict[str, str]]] = {
    "both are to grow": (found(claim(OF_FIRST), claim(OF_SECOND)), {SECOND: FIRST}),
    "the first one grows": (found(claim(OF_FIRST, "2Gi"), claim(OF_SECOND)), {SECOND: FIRST}),
    "only the StatefulSet of the first one is left": (found(claim(OF_SECOND)), {}),
    "something blocks the first one": (
        found(claim(OF_FIRST), claim(OF_SECOND), blocked_expansions=frozenset({FIRST})),
        {},
    ),
}


@pytest.mark.parametrize(("which", "expected"), CASES.values(), ids=CASES)
def test_deferred(which: Inputs, expected: dict[str, str]) -> None:
    assert deferred(which) == expected


def rejected(name: str, message: str) -> dict[ObjectKey, Verdict]:
    rejection = Finding(reasons.REJECTED_BY_API_SERVER, message, FIRST)
    step = UpdateClaim(group=FIRST, live=claim(name), patch=[], notice=Notice("", ""))
    return {ObjectKey(CLAIM, name): Verdict(step, rejection=rejection)}


def test_a_group_whose_patch_is_rejected_does_not_hold_another_one() -> None:
    plan = decided(found(claim(OF_FIRST), claim(OF_SECOND), verdicts=rejected(OF_FIRST, "exceeded quota.")))
    assert [(step.operation.verb, step.key.kind, step.group) for step in plan.steps] == [
        ("update", CLAIM, SECOND),
        ("recreate", "StatefulSet", SECOND),
    ]
    assert [finding.group for finding in plan.findings if finding.is_problem] == [FIRST]


def test_a_group_that_grows_already_holds_the_other_one_whatever_blocks_it() -> None:
    plan = decided(found(claim(OF_FIRST, "2Gi"), claim(OF_SECOND), verdicts=rejected(OF_FIRST, "not valid.")))
    assert {(step.operation.verb, step.group) for step in plan.steps if step.key.kind != "Pod"} == {("recreate", FIRST)}


def test_a_rejected_group_whose_other_expansion_is_infeasible_does_not_hold_another_one() -> None:
    """Neither can go on: the storage driver has given up the one, and the API server rejects the other."""
    small = f"d-druid-c-{FIRST}-1"
    other = orphans.claim(small, f"druid-c-{FIRST}")
    infeasible = claim(OF_FIRST, "2Gi")
    infeasible["status"]["allocatedResourceStatuses"] = {"storage": "NodeResizeInfeasible"}
    claims = (infeasible, {**claim(OF_FIRST), "metadata": other["metadata"]}, claim(OF_SECOND))
    plan = decided(found(*claims, verdicts=rejected(small, "exceeded quota.")))
    assert (CLAIM, SECOND) in {(step.key.kind, step.group) for step in plan.steps}
