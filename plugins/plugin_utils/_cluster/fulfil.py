# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways to do what one task asks for, told apart by how it names the cluster."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.deletion import (
    delete_by_variable,
    delete_resource,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.passes import passes
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._given import Submitted, from_spec, submit
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._waiting import Progress


def fulfil(api: KubernetesApi, request: Request, progress: Progress, clock: Clock) -> Outcome:
    """Do what the request asks for. DruidopsError when it cannot even be begun."""
    if request.absent:
        delete = delete_by_variable if request.by_variable else delete_resource
        return delete(api, request, progress, clock)
    if request.by_variable:
        return _by_variable(api, request, progress, clock)
    if request.resource is None:
        return passes(api, request, Outcome(), progress, clock)
    # In check mode by dry run: what that returns is what is planned for.
    submitted = submit(api, request.resource, request.settings.check_mode)
    plan = Plan(_steps(request.resource, submitted))
    return passes(api, request, Outcome(plan, changed=plan.changes), progress, clock, first=submitted.stored)


def _steps(resource: Manifest, submitted: Submitted) -> tuple[Step, ...]:
    """Return what was done to the resource itself."""
    if submitted.operation is None:
        return ()
    return (Step(submitted.operation, resource, live=submitted.live, after=submitted.stored),)


def _by_variable(api: KubernetesApi, request: Request, progress: Progress, clock: Clock) -> Outcome:
    resource, warnings = from_spec(names.KIND, request.spec or {}, request.name, request.namespace)
    described = replace(request, resource=resource)
    return passes(api, described, Outcome(warnings=warnings), progress, clock)
