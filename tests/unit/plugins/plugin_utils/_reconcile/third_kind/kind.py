# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kind Note: it names the functions of the four other files."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.census import KindMetrics
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.delete import resource_deletion
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind, Output
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report, reconcile_and_report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_input import Submitted
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.telemetry import Counts, Telemetry
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.third_kind.act import Done, act
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.third_kind.decide import (
    FINALIZER,
    Plan,
    Step,
    decide,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.third_kind.observe import observe
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.third_kind.status import REPORTING


def _reconcile(api: KubernetesApi, resource: Manifest, options: Options) -> Done:
    with options.phases("observe"):
        observed = observe(api, resource)
    with options.phases("decide"):
        plan = decide(observed)
    if options.check_mode:
        return Done(observed, plan)
    with options.phases("act"):
        return act(api, observed, plan)


def reconcile(api: KubernetesApi, resource: Manifest, options: Options, now: datetime) -> Report[Plan]:
    return reconcile_and_report(REPORTING, _reconcile, api, resource, options, now)


def _submitted(resource: Manifest, submitted: Submitted) -> Plan:
    return Plan((Step(submitted.operation, submitted.live, resource),)) if submitted.operation else Plan()


def _deleted(resource: Manifest | None) -> Plan:
    return Plan((Step("delete", resource, None),)) if resource else Plan()


def _nothing(*_: Any) -> Outcome[Plan]:
    """Return the outcome of the deletion of a Note without a resource: it keeps no record."""
    return Outcome(Plan())


NOTE = Kind(
    name="Note",
    finalizer=FINALIZER,
    variable="note_resource",
    arguments={},
    to_options=lambda arguments, check_mode, meter: Options(check_mode, meter=meter),
    plan=Plan,
    reconcile=reconcile,
    submitted=_submitted,
    delete_resource=resource_deletion("Note", _deleted, reconcile),
    delete_without_resource=_nothing,
    output=Output(
        lines=lambda plan: [step.title for step in plan.steps],
        diff=lambda plan: [{"before": step.before or "", "after": step.after or ""} for step in plan.steps],
        details=lambda status: {},
    ),
    telemetry=Telemetry(
        KindMetrics("Note", "notes", ("Ready", "Degraded"), lambda conditions: False),
        lambda plan: Counts(len(plan.steps), 0),
    ),
)
