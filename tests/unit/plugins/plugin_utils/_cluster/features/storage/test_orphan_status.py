# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The orphaned PVCs in the status."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.orphans import orphaned_pvcs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.orphans import (
    NOW,
    claim,
    cluster,
    marks,
    pod,
)

NAME = "d-druid-c-brokers-1"
UNMARKED = {"annotations": marks(5)["annotations"]}
OF_GO = {"labels": marks(5)["labels"]}

CASES: dict[str, tuple[dict[str, Any], Cluster, bool, dict[str, str] | None]] = {
    "no mark": ({}, cluster(), False, None),
    "marked": (marks(60), cluster(), False, {"name": NAME, "deletedAfter": timestamp(NOW)}),
    "a time near the end of time": (
        {**marks(60, annotated="9999-12-31T23:59:59Z"), "labels": {"toBeDeleted": "yes", "deletionTS": "1"}},
        cluster(),
        False,
        {"name": NAME, "deletedAfter": "9999-12-31T23:59:59Z"},
    ),
    "marked by the Go operator": (OF_GO, cluster(), False, {"name": NAME}),
    "unmarked": (UNMARKED, cluster(), False, {"name": NAME, "message": "It stays"}),
    "paused": (marks(60), cluster(), True, {"name": NAME, "message": "It is not deleted while"}),
    "stopped": (marks(60), cluster(stopped=True), False, {"name": NAME, "message": "It is not deleted while"}),
    "switched off": (marks(60), cluster(deleteOrphanPvc=False), False, {"name": NAME, "message": "It is not deleted"}),
    "terminating": ({**marks(60), "deletionTimestamp": "now"}, cluster(), False, None),
}


@pytest.mark.parametrize(("mark", "which", "is_paused", "entry"), CASES.values(), ids=CASES)
def test_entries(mark: dict[str, Any], which: Cluster, is_paused: bool, entry: dict[str, str] | None) -> None:
    observed = Observed().with_objects([claim(NAME, **mark)])
    found = orphaned_pvcs(which, observed, is_paused)
    assert len(found) == (entry is not None)
    for each in found:
        assert entry is not None
        assert each.keys() == entry.keys()
        assert all(each[name].startswith(text) for name, text in entry.items())
    assert orphaned_pvcs(which, observed.with_objects([pod("p", NAME)]), is_paused) == []
