# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PVCs that are retained lose the StatefulSet as their owner, also those that have no pod."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.claim_patches import (
    released_claims,
    retains_claims,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.delete.test_retain import (
    DELETE,
    FREE,
    OWNED,
    OWNER,
    POLICY,
    RETAIN,
    claim,
    stateful_set,
)

Manifest = dict[str, Any]

FLAG: Manifest = {"disablePVCDeletionFinalizer": True}
# (spec of the cluster, policy of the group, live StatefulSet, names of the objects that are changed)
CASES: dict[str, tuple[Manifest, Manifest | None, Manifest, list[str]]] = {
    "the flag overrides Delete": (FLAG, DELETE, stateful_set(RETAIN), ["owned"]),
    "the flag without a policy": (FLAG, None, stateful_set(None), ["owned"]),
    "Delete was removed from the spec": ({}, RETAIN, stateful_set(RETAIN), ["owned"]),
    "the controller may still add owners": (
        FLAG,
        DELETE,
        stateful_set(RETAIN, observed=0),
        ["druid-c-brokers", "owned"],
    ),
    "the update to Retain does it": (FLAG, DELETE, stateful_set(DELETE), []),
    "Delete is specified": ({}, DELETE, stateful_set(DELETE), []),
    "Delete will be set": ({}, DELETE, stateful_set(RETAIN), []),
    "Delete of another manager": ({}, None, stateful_set(DELETE), []),
}


@pytest.mark.parametrize(("spec", "policy", "live", "changed"), CASES.values(), ids=CASES)
def test_retained_pvcs_are_released(
    spec: Manifest, policy: Manifest | None, live: Manifest, changed: list[str]
) -> None:
    observed = Observed().with_objects([live, OWNED, FREE])
    steps = released_claims(inputs(druid.cluster({POLICY: policy}, **spec), observed))
    assert [step.key.name for step in steps] == changed
    assert {step.group for step in steps} <= {"brokers"}


def test_nothing_is_changed_without_an_owned_pvc() -> None:
    observed = Observed().with_objects([stateful_set(RETAIN, observed=0), FREE])
    assert released_claims(inputs(druid.cluster({POLICY: DELETE}, **FLAG), observed)) == ()


def test_pvcs_without_our_labels_are_found_by_their_owner() -> None:
    unlabelled = claim("unlabelled", OWNER)
    unlabelled["metadata"].pop("labels")
    lists = {"PersistentVolumeClaim": (unlabelled, FREE)}
    observed = Observed().with_objects([stateful_set(RETAIN)])
    found = inputs(druid.cluster({POLICY: DELETE}, **FLAG), observed, lists=lists)
    assert [step.key.name for step in released_claims(found)] == ["unlabelled"]


@pytest.mark.parametrize(("spec", "policy"), [({}, DELETE), (FLAG, RETAIN), (FLAG, None)])
def test_other_clusters_need_no_more_requests(spec: Manifest, policy: Manifest | None) -> None:
    assert not retains_claims(druid.cluster({POLICY: policy}, **spec))
