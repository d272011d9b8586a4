# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An expansion that the driver reports as infeasible is a problem, with the driver's words."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.infeasible_expansions import (
    infeasible_expansions,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, orphans
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs

FAILED = {"type": "ControllerResizeError", "status": "True", "message": "exceeds the limit of the array."}


def observed(which: Cluster, state: str, conditions: tuple[dict[str, str], ...] = ()) -> Observed:
    claim = orphans.claim("d-druid-c-brokers-0")
    resources = {"requests": {"storage": "9Ti"}}
    status = {"phase": "Bound", "capacity": {"storage": "1Gi"}, "allocatedResourceStatuses": {"storage": state}}
    live = {**claim, "spec": {"resources": resources}, "status": {**status, "conditions": list(conditions)}}
    return orphans.observed(which, [live])


CASES: dict[str, tuple[str, tuple[dict[str, str], ...], str | None]] = {
    "infeasible": ("ControllerResizeInfeasible", (), ": ControllerResizeInfeasible. Lower"),
    "with a message": ("NodeResizeInfeasible", (FAILED,), ": NodeResizeInfeasible: exceeds the limit of the array. L"),
    "under way": ("ControllerResizeInProgress", (), None),
    "no state": ("", (), None),
}


@pytest.mark.parametrize(("state", "conditions", "expected"), CASES.values(), ids=CASES)
def test_finding(state: str, conditions: tuple[dict[str, str], ...], expected: str | None) -> None:
    templates: list[Any] = [{"metadata": {"name": "d"}, "spec": {"resources": {"requests": {"storage": "9Ti"}}}}]
    which = druid.cluster({"volumeClaimTemplates": templates}, scalePvcSts=True)
    found = infeasible_expansions(inputs(which, observed(which, state, conditions)))
    assert len(found) == (expected is not None)
    for each in found:
        assert expected is not None
        assert expected in each.message
        assert (each.reason, each.object) == ("VolumesNotExpandable", "PersistentVolumeClaim d-druid-c-brokers-0")
        read: dict[str, Any] = {"unlisted": {}, "verdicts": {}, "storage_classes": {}}
        lists: dict[str, Any] = {"PodDisruptionBudget": ()}
        plan = decide(inputs(which, observed(which, state, conditions), lists=lists, **read))
        assert isinstance(plan, Plan)
        assert [finding.is_problem for finding in plan.findings] == [True, False]
