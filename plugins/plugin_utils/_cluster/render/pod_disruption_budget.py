# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The PodDisruptionBudget of a group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.metadata import group_manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group


def pod_disruption_budget(group: Group, selector: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the group's disruption budget, if it is specified; it always selects the group's pods."""
    budget = group.node.get("podDisruptionBudgetSpec")
    if budget is None:
        return []
    metadata = {"name": group.unique_name, "labels": names.group_labels(group)}
    spec = {**budget, "selector": {"matchLabels": selector}}
    return [group_manifest(group, "policy/v1", "PodDisruptionBudget", metadata, spec=spec)]
