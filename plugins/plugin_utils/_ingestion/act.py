# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Execute a plan step by step: a failed step stops the ones after it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import terminate
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_offsets import reset_before_resuming
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import shut_down, submit
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, NotConnected
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import error_findings
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, to_config_map
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.normalization import with_normalized
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import (
    Converge,
    Finalizer,
    Plan,
    Reset,
    SaveLastApplied,
    Step,
    Submit,
    Terminate,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


@dataclass(frozen=True)
class ActResult:
    """The completed steps, and the finding of the failed one. `live` is the resource afterwards."""

    done: tuple[Step, ...]
    live: Manifest
    failed: Step | None = None
    finding: Finding | None = None

    @property
    def record(self) -> LastApplied | None:
        """The record that was saved last, None if none was."""
        records = [step.record for step in self.done if isinstance(step, SaveLastApplied)]
        return records[-1] if records else None

    @property
    def applied(self) -> tuple[Converge, ...]:
        """The completed changes in Druid, with their warnings."""
        return tuple(step for step in self.done if isinstance(step, Converge))

    def plan(self, planned: Plan) -> Plan:
        """Return the plan with the completed steps only."""
        return replace(
            planned, steps=self.done, findings=(*planned.findings, *([self.finding] if self.finding else []))
        )


def act(api: KubernetesApi, client: DruidClient | None, live: Manifest, steps: tuple[Step, ...]) -> ActResult:
    """Execute the steps in order. `client` can be None if no step is a change in Druid."""
    done: list[Step] = []
    for step in steps:
        try:
            live = _carry_out(api, client, live, step)
        except KubernetesError as error:
            return ActResult(tuple(done), live, step, Finding(reasons.APPLY_FAILED, str(error)))
        except NotConnected as error:
            # transient: it ends when the stream is available again
            return ActResult(tuple(done), live, step, Finding(reasons.SUPERVISOR_UNHEALTHY, str(error)))
        except DruidError as error:
            return ActResult(tuple(done), live, step, error_findings.error_finding(error))
        done.append(step)
    return ActResult(tuple(done), live)


def _carry_out(api: KubernetesApi, client: DruidClient | None, live: Manifest, step: Step) -> Manifest:
    """Return the resource; only the finalizer step changes it."""
    if isinstance(step, Finalizer):
        return _set_finalizer(api, live, step.is_set)
    if isinstance(step, SaveLastApplied):
        _save_last_applied(api, Ingestion.from_resource(live), step)
    elif client is not None:
        _do_in_druid(client, step)
    return live


def _do_in_druid(client: DruidClient, step: Converge | Reset | Submit | Terminate) -> None:
    if isinstance(step, Converge):
        step.resource.write(step.change.before, step.change.after)
    elif isinstance(step, Reset):
        reset_before_resuming(client, step.id)
    elif isinstance(step, Submit):
        submit(client, step.job, step.attempt)
    else:
        _terminate(client, step)


def _terminate(client: DruidClient, step: Terminate) -> None:
    """Terminate or shut down; a missing supervisor or task is not an error."""
    try:
        if step.kind == "task":
            shut_down(client, step.id)
        else:
            terminate(client, step.id)
    except NotFound:
        return


def _save_last_applied(api: KubernetesApi, ingestion: Ingestion, step: SaveLastApplied) -> None:
    if step.record is not None:
        api.apply(with_normalized(to_config_map(step.record, ingestion), step.normalized))
        return
    found = api.get("ConfigMap", ingestion.namespace, names.record_name(ingestion.name))
    if found is not None:
        api.delete("ConfigMap", ingestion.namespace, found["metadata"]["name"], found["metadata"]["uid"])


def _set_finalizer(api: KubernetesApi, live: Manifest, is_set: bool) -> Manifest:
    """Return the resource with or without the finalizer; without it, the resource may be deleted already."""
    metadata = live["metadata"]
    others = [each for each in metadata.get("finalizers") or [] if each != names.FINALIZER]
    operations: list[dict[str, Any]] = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": metadata.get("resourceVersion")},
        {"op": "add", "path": "/metadata/finalizers", "value": [*others, names.FINALIZER] if is_set else others},
    ]
    try:
        return api.json_patch(names.KIND, metadata["namespace"], metadata["name"], operations)
    except ApiError as error:
        if error.is_missing_object and not is_set:
            return live
        raise
