# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Deployment of a group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import Preserved
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.workload import workload
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group


def deployment(
    group: Group, selector: Mapping[str, str], template: Mapping[str, Any], preserved: Preserved
) -> dict[str, Any]:
    """Return the group's Deployment."""
    return workload(
        group,
        selector,
        template,
        preserved,
        strategy=group.node.get("strategy") or _rolling_update(group),
        progressDeadlineSeconds=group.first_present("progressDeadlineSeconds"),
    )


def _rolling_update(group: Group) -> dict[str, Any]:
    limits = {name: group.node[name] for name in ("maxSurge", "maxUnavailable") if group.node.get(name) is not None}
    return {"type": "RollingUpdate", "rollingUpdate": limits or None}
