# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The live objects of a cluster, and what is derived from them."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed


def test_failed_pods_of_a_deleted_deployment_are_not_counted() -> None:
    """An evicted pod remains beside the one that replaced it."""
    labels = {names.GROUP_LABEL: "s", "pod-template-hash": "1"}
    pods = [
        {"kind": "Pod", "metadata": {"name": name, "labels": labels}, "status": {"phase": phase}}
        for name, phase in (("s-a", "Running"), ("s-b", "Failed"))
    ]
    assert Observed().with_objects(pods).orphaned_replicas("s") == 1
