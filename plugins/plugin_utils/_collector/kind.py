# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kind Collector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._collector import names
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.finalize import finalize
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm_modules import Helm, no_helm
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.metrics import TELEMETRY
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import ARGUMENTS, Options, to_options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reconcile import reconcile
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.report import REPORTING, diff, lines
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.delete import resource_deletion
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind, Output
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import Outcome, Progress
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import reconcile_and_report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_input import Submitted, from_spec
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_steps import written


def _submitted(resource: Manifest, submitted: Submitted) -> Plan:
    return Plan(written(submitted.operation, resource))


def _deleted(resource: Manifest | None) -> Plan:
    return Plan(written("delete", resource))


def _details(status: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"release": status["release"]} if "release" in status else {}


def _delete_without_resource(
    api: KubernetesApi, request: Request[Options], _progress: Progress, clock: Clock
) -> Outcome[Plan]:
    """Uninstall the release of a Collector that variables define."""
    resource, warnings = from_spec(names.KIND, request.spec or {}, request.name, request.namespace)
    report = reconcile_and_report(REPORTING, finalize, api, resource, request.options, clock.now())
    return Outcome(Plan(), warnings=warnings).after(report)


COLLECTOR: Kind[Options, Plan] = Kind(
    name=names.KIND,
    finalizer=names.FINALIZER,
    variable="druid_collector_resource",
    arguments=ARGUMENTS,
    to_options=partial(to_options, no_helm()),
    plan=Plan,
    reconcile=reconcile,
    submitted=_submitted,
    delete_resource=resource_deletion(names.KIND, _deleted, reconcile),
    delete_without_resource=_delete_without_resource,
    output=Output(lines, diff, _details),
    telemetry=TELEMETRY,
    # ansible-operator would watch Secrets, and the kinds of all charts.
    reads_cache=False,
)


def with_helm(helm: Helm) -> Kind[Options, Plan]:
    """Return the kind with the Helm of a task."""
    return replace(COLLECTOR, to_options=partial(to_options, helm))
