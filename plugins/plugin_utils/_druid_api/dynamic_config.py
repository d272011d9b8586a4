# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the dynamic configurations that are stated, and write those that differ (Druid 33: see ``_spec``'s kinds)."""

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
    """Change a dynamic configuration; `kind` is the field that states it."""

    resource: DynamicConfig
    kind: str


@dataclass(frozen=True)
class DynamicConfigChanges:
    """What would be changed, or has been; what is in the way of others; remarks for the user.

    `normalized` is, by kind, a digest of what Druid has made of what it was given, empty where that is what was wanted.
    """

    steps: tuple[Configure, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    normalized: Mapping[str, str] = field(default_factory=dict)


def find_changes(
    client: DruidClient, desired: Mapping[str, Mapping[str, Any]], normalized: Mapping[str, str]
) -> DynamicConfigChanges:
    """Return what has to be changed so that each of these kinds is as wanted. Only GETs are sent.

    What Druid has made of the same before is left so, with a warning: giving it again would come to the same.

    What is wrong with one kind is in the way of that alone; a Druid that does not answer is not asked again.
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
    """Carry out the steps; return those that have been, as they have come out, and what was in the way of others."""
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
        is_as_wanted = are_same(step.resource.merge(after), after)
        normalized = {**found.normalized, step.kind: "" if is_as_wanted else _normalized(step.resource, after)}
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
