# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The StatefulSet of a group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import Preserved
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.retention_policy import retention_policy
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.service import service_names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.workload import workload
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group


def stateful_set(
    group: Group, selector: Mapping[str, str], template: Mapping[str, Any], preserved: Preserved
) -> dict[str, Any]:
    """Return the group's StatefulSet."""
    return workload(
        group,
        selector,
        template,
        preserved,
        # The first Service defines the DNS names of the pods.
        serviceName=next(iter(service_names(group)), ""),
        podManagementPolicy=group.first_non_empty("podManagementPolicy") or "Parallel",
        updateStrategy=group.first_present("updateStrategy") or None,
        volumeClaimTemplates=_claim_templates(group) or None,
        persistentVolumeClaimRetentionPolicy=retention_policy(group, preserved),
    )


def _claim_templates(group: Group) -> list[dict[str, Any]]:
    claims = group.concatenated("volumeClaimTemplates")
    return [{name: value for name, value in claim.items() if name != "status"} for claim in claims]
