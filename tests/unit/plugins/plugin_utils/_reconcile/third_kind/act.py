# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Execute the plan of a Note."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.finalizer import finalizer_patch
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.third_kind.decide import (
    FINALIZER,
    Plan,
    Step,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.third_kind.observe import Observed


@dataclass(frozen=True)
class Done:
    """The result of a reconcile: the plan has the completed steps, except in check mode."""

    observed: Observed
    plan: Plan


def act(api: KubernetesApi, observed: Observed, plan: Plan) -> Done:
    """Execute the steps in order; a failed one stops those after it."""
    done: list[Step] = []
    findings = plan.findings
    for step in plan.steps:
        try:
            _write(api, step)
        except KubernetesError as error:
            findings = (*findings, Finding(reasons.APPLY_FAILED, str(error)))
            break
        done.append(step)
    return Done(observed, replace(plan, steps=tuple(done), findings=findings))


def _write(api: KubernetesApi, step: Step) -> None:
    if step.after is not None:
        api.apply(step.after)
        return
    assert step.before is not None
    metadata = step.before["metadata"]
    if step.operation == "delete":
        api.delete("ConfigMap", metadata["namespace"], metadata["name"], metadata["uid"])
        return
    operations = finalizer_patch(step.before, FINALIZER, is_desired=False)
    api.json_patch("Note", metadata["namespace"], metadata["name"], operations)
