# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each fixed history finds the loss again when its fix is removed; otherwise it would not test anything."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names, object_ownership, spec
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide import decision
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete import finalizer, retain
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features import removal, storage
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import workloads
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps import apply
from ansible_collections.druidops.druid.tests.simulator.specification import Cluster
from ansible_collections.druidops.druid.tests.unit.simulator.actions import Event
from ansible_collections.druidops.druid.tests.unit.simulator.test_fixed_histories import HISTORIES, play

# Object and attribute that are replaced, and the replacement.
Patch = tuple[Any, str, Any]


def no(*_arguments: Any) -> bool:
    return False


def nothing(*_arguments: Any) -> tuple[()]:
    return ()


def as_specified(group: spec.Group, _preserved: Any) -> Any:
    return group.node.get("persistentVolumeClaimRetentionPolicy")


def same(value: Any) -> Any:
    return value


# The package has a function of the module's name.
AS_SPECIFIED: Patch = (workloads, "retention_policy", as_specified)
NOT_RELEASED: list[Patch] = [
    (apply, "release_retained", lambda _context, _before, after: after),
    (storage, "released_claims", nothing),
]
WITHOUT_OUTDATED: Patch = (decision, "outdated_resource", nothing)
UNSET_IS_ZERO: Patch = (spec.Group, "keeps_replicas", spec.Group.autoscaled)
# History, and what was missing before its fix.
FIXES: list[tuple[str, list[Patch]]] = [
    ("a stopped group retains its PVCs", [AS_SPECIFIED]),
    ("the flag, and the resource goes at once", [AS_SPECIFIED]),
    ("playbook and operator in turns with the flag", [(finalizer, "is_finalizer_of_operator", no)]),
    ("a GitOps tool prunes", [(names, "without_instance", same)]),
    ("another kind", [(retain, "retain", nothing), (retain, "disown", nothing)]),
    (
        "deleted by --cascade=orphan, and pruned before the finalizer runs",
        [(finalizer, "has_lost_its_objects", no)],
    ),
    ("the flag, while a group is stopped", NOT_RELEASED),
    ("the flag, after a scale-down", NOT_RELEASED),
    ("another name of the first Service", [(removal, "subdomains", lambda _cluster, _observed: {})]),
    ("a slow reconcile of an earlier number of replicas", [WITHOUT_OUTDATED]),
    ("a slow reconcile of an earlier spec without the group", [WITHOUT_OUTDATED]),
    ("replicas unset", [UNSET_IS_ZERO]),
    ("replicas unset, where a scale-down deletes PVCs", [UNSET_IS_ZERO]),
    ("an own autoscaler goes, and replicas are not set", [UNSET_IS_ZERO]),
    ("replicas unset for a foreign autoscaler", [UNSET_IS_ZERO]),
    ("a foreign autoscaler is absent for one reconcile", [(object_ownership, "owned_by", lambda *_entry: {})]),
]


@pytest.mark.parametrize(("history", "patches"), FIXES, ids=[history for history, _patches in FIXES])
def test_history_fails_without_its_fix(history: str, patches: list[Patch], monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name, replacement in patches:
        monkeypatch.setattr(owner, name, replacement)
    cluster, actions = HISTORIES[history]
    with pytest.raises(AssertionError):
        play_both(cluster, actions)


def play_both(cluster: Cluster, actions: list[Event]) -> None:
    play("operator", cluster, actions)
    play("playbook", cluster, actions)
