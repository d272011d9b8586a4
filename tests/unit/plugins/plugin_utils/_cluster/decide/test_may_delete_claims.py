# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All PVCs of the namespace are read where some may be deleted, and only there."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.effects import may_delete_claims
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.decide.test_effects import (
    DELETING_SET,
    autoscaler,
    delete,
    deployment,
    named,
    stateful_set,
    update,
)

Manifest = dict[str, Any]

# (live object, step, may it delete PVCs)
STEPS: dict[str, tuple[Manifest, Step, bool]] = {
    "fewer pods": (DELETING_SET, update(DELETING_SET, stateful_set(1, "Delete")), True),
    "fewer pods, retained": (stateful_set(3), update(stateful_set(3), stateful_set(1)), False),
    "a stop": (DELETING_SET, update(DELETING_SET, stateful_set(0)), False),
    "the same": (DELETING_SET, update(DELETING_SET, stateful_set(3, "Delete")), False),
    "more pods": (DELETING_SET, update(DELETING_SET, stateful_set(4, "Delete")), False),
    "a stopping pod": (named("Pod", "s-3"), update(stateful_set(3), stateful_set(3, "Delete")), True),
    "a lower maximum": (DELETING_SET, update(autoscaler(5), autoscaler(2)), True),
    "a maximum above the replicas": (DELETING_SET, update(autoscaler(5), autoscaler(3)), False),
    "a removed autoscaler": (DELETING_SET, delete(autoscaler(5)), False),
    "a removed group": (DELETING_SET, delete(DELETING_SET), True),
    "a removed Deployment": (deployment(2), delete(deployment(2)), False),
}


@pytest.mark.parametrize(("live", "step", "may_delete"), STEPS.values(), ids=STEPS)
def test_pvcs_without_labels_are_read_where_pvcs_may_be_deleted(live: Manifest, step: Step, may_delete: bool) -> None:
    observed = Observed().with_objects([live])
    assert may_delete_claims([step], observed) is may_delete
