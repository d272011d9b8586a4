# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the specified dynamic configurations, and write those that differ (Druid 33: see ``_spec``'s kinds)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import Change, converge
from ansible_collections.druidops.druid.plugins.module_utils._resources.dynamic_config import DynamicConfig
from ansible_collections.druidops.druid.plugins.module_utils._spec.dynamic_config import (
    BROKER,
    COORDINATOR,
    OVERLORD,
    TASK_RUNNER,
    Kind,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import error_findings
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import Converge
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.digest import digest

# The fields of a Druid resource's dynamicConfig.
KINDS: Mapping[str, Kind] = {
    "coordinator": COORDINATOR,
    "overlord": OVERLORD,
    "broker": BROKER,
    "kubernetesTaskRunner": TASK_RUNNER,
}


@dataclass(frozen=True)
class Configure(Converge):
    """Change a dynamic configuration; `kind` is the field that specifies it."""

    resource: DynamicConfig
    kind: str


@dataclass(frozen=True)
class DynamicConfigChanges:
    """Planned or completed changes, findings about the others, and warnings.

    `normalized` is, by kind, a digest of the configuration as Druid normalized it; empty if Druid did not.
    """

    steps: tuple[Configure, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    normalized: Mapping[str, str] = field(default_factory=dict)


def find_changes(
    client: DruidClient, desired: Mapping[str, Mapping[str, Any]], normalized: Mapping[str, str]
) -> DynamicConfigChanges:
    """Return the changes that lead to the desired configuration of each kind. Only GETs are sent.

    A difference that only comes from Druid's normalization of the same configuration is a warning, not a change.

    An error of one kind blocks that kind only. After a connection error no further request is sent.
    """
    found = DynamicConfigChanges()
    for name, config in desired.items():
        kind = KINDS[name]
        what = f"dynamic configuration of {kind.name}"
        try:
            resource = DynamicConfig(client, kind, config)
            change = converge(resource, check_mode=True)
        except DruidError as error:
            found = _with_error(found, what, error)
            if _is_unreachable(found):
                return found
            continue
        steps = found.steps
        if change.changed and normalized.get(name) == _normalized(resource, change.before):
            resource.compare(change.after, change.before)
        elif change.changed:
            steps = (*steps, Configure(what, resource, change, name))
        found = replace(found, steps=steps, warnings=(*found.warnings, *resource.warnings))
    return found


def write_changes(steps: Iterable[Configure]) -> DynamicConfigChanges:
    """Write the changes; return the completed ones with their result, and findings about the others."""
    found = DynamicConfigChanges()
    for step in steps:
        try:
            after = step.resource.write(step.change.before, step.change.after)
        except DruidError as error:
            found = _with_error(found, step.what, error)
            if _is_unreachable(found):
                return found
            continue
        done = replace(step, change=Change(step.change.before, after))
        is_as_desired = are_same(step.resource.merge(after), after)
        normalized = {**found.normalized, step.kind: "" if is_as_desired else _normalized(step.resource, after)}
        warnings = (*found.warnings, *step.resource.warnings)
        found = replace(found, steps=(*found.steps, done), warnings=warnings, normalized=normalized)
    return found


def _normalized(resource: DynamicConfig, now: Any) -> str:
    return digest([resource.desired, now])


def _with_error(found: DynamicConfigChanges, what: str, error: DruidError) -> DynamicConfigChanges:
    finding = error_findings.error_finding(error)
    prefixed = replace(finding, message=f"{what[0].upper()}{what[1:]}: {finding.message}")
    return replace(found, findings=(*found.findings, prefixed))


def _is_unreachable(found: DynamicConfigChanges) -> bool:
    return found.findings[-1].reason == reasons.DRUID_UNREACHABLE
