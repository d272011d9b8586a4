# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reconcile the dynamic configurations in Druid, after the objects in Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_access import druid_access
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reconciled import Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import (
    ConnectionDetails,
    ConnectionUnavailable,
    connect,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.dynamic_config import (
    DynamicConfigChanges,
    find_changes,
    write_changes,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.normalization import (
    Normalized,
    Store,
    with_normalized,
    without_normalization,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

# In status.dynamicConfig, which does not belong to one spec: the digest includes the desired configuration.
_IN_STATUS = Store(name=lambda change: change.id, state=lambda change: [change.desired, change.before])
# The desired configuration by kind.
Configs = Mapping[str, Mapping[str, Any]]


def configure(
    api: KubernetesApi, done: Reconciled, configs: Configs, options: Options, *, read_only: bool
) -> Reconciled:
    """Return the reconcile with completed (or planned) changes in Druid, and with findings.

    A problem with Druid is a finding, not an error: the writes in Kubernetes are done already.
    """
    access = druid_access(api, done.resource, done.cluster, done.observed, options, "spec.dynamicConfig")
    done = replace(done, observed=access.with_secrets(done.observed))
    if isinstance(access.found, Finding):
        return _with_findings(done, access.found)
    try:
        return _with_druid(api, done, configs, access.found, options, read_only=read_only)
    except ConnectionUnavailable as error:
        return _with_findings(done, error.finding)
    except DruidopsError as error:
        return _with_findings(done, Finding(reasons.DRUID_UNREACHABLE, str(error)))


def _with_druid(
    api: KubernetesApi,
    done: Reconciled,
    configs: Configs,
    found: ConnectionDetails,
    options: Options,
    *,
    read_only: bool,
) -> Reconciled:
    known = _known(done)
    with connect(found, options.timeouts, options.meter) as client:
        with options.phases("decide"):
            found_changes = find_changes(
                client, configs, lambda change: without_normalization(change, known, _IN_STATUS)
            )
        if read_only or not found_changes.steps:
            return _with_changes(done, found_changes)
        with options.phases("act"):
            written = write_changes(client, found_changes.steps)
    done = replace(done, normalized_in_druid=with_normalized(known, written.steps, written.remaining, _IN_STATUS))
    return _with_changes(_with_changes(done, replace(found_changes, steps=())), written)


def _known(done: Reconciled) -> Normalized:
    return (done.resource.get("status") or {}).get("dynamicConfig") or {}


def _with_changes(done: Reconciled, found: DynamicConfigChanges) -> Reconciled:
    plan = done.plan
    warnings = tuple(dict.fromkeys((*plan.warnings, *found.warnings)))
    findings = (*plan.findings, *found.findings)
    return replace(
        done, plan=replace(plan, in_druid=(*plan.in_druid, *found.steps), findings=findings, warnings=warnings)
    )


def _with_findings(done: Reconciled, *findings: Finding) -> Reconciled:
    return replace(done, plan=replace(done.plan, findings=(*done.plan.findings, *findings)))
