# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kind DruidIngestion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.delete_without_resource import (
    delete_without_resource,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.metrics import TELEMETRY
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import ARGUMENTS, Options, to_options
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reconcile import reconcile
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.report import diff
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.delete import resource_deletion
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind, Output
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_input import Submitted
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_steps import written

_FIELDS = ("taskId", "state", "detailedState", "suspended", "lag")


def _submitted(resource: Manifest, submitted: Submitted) -> Plan[Any]:
    return Plan(written(submitted.operation, resource))


def _deleted(resource: Manifest | None) -> Any:
    return Plan(written("delete", resource))


def lines(plan: Plan[Any]) -> list[str]:
    """Return a line per step."""
    return [step.title for step in plan.steps]


def _diff(plan: Plan[Any]) -> list[dict[str, Any]]:
    return list(diff(plan.steps))


def _details(status: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"ingestion": {name: status[name] for name in _FIELDS if name in status}}


# The plan of a task has the write of the resource, besides the steps of a reconcile.
INGESTION: Kind[Options, Any] = Kind(
    name=names.KIND,
    finalizer=names.FINALIZER,
    variable="druid_ingestion_resource",
    arguments=ARGUMENTS,
    to_options=to_options,
    plan=Plan,
    reconcile=reconcile,
    submitted=_submitted,
    delete_resource=resource_deletion(names.KIND, _deleted, reconcile),
    delete_without_resource=delete_without_resource,
    output=Output(lines, _diff, _details),
    telemetry=TELEMETRY,
)
