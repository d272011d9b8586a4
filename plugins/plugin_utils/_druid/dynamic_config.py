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
from ansible_collections.druidops.druid.plugins.plugin_utils import _reasons as reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._digest import digest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid import trouble
from ansible_collections.druidops.druid.plugins.plugin_utils._druid.step import Converge
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding

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
class Found:
    """What would be changed, or has been; what is in the way of others; remarks for the user.

    `made` is, by kind, a digest of what Druid has made of what it was given, empty where that is what was wanted.
    """

    steps: tuple[Configure, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)


def look(client: DruidClient, wanted: Mapping[str, Mapping[str, Any]], made: Mapping[str, str]) -> Found:
    """Return what has to be changed so that each of these kinds is as wanted. Only GETs are sent.

    What Druid has made of the same before is left so, with a warning: giving it again would come to the same.

    What is wrong with one kind is in the way of that alone; a Druid that does not answer is not asked again.
    """
    found = Found()
    for name, config in wanted.items():
        kind = KINDS[name]
        what = f"dynamic configuration of {kind.name}"
        try:
            resource = DynamicConfig(client, kind, config)
            change = converge(resource, check_mode=True)
        except DruidError as error:
            found = _with_trouble(found, what, error)
            if _is_silent(found):
                return found
            continue
        steps = found.steps
        if change.changed and made.get(name) == _made(resource, change.before):
            resource.compare(change.after, change.before)
        elif change.changed:
            steps = (*steps, Configure(what, resource, change, name))
        found = replace(found, steps=steps, warnings=(*found.warnings, *resource.warnings))
    return found


def write(steps: Iterable[Configure]) -> Found:
    """Carry out the steps; return those that have been, as they have come out, and what was in the way of others."""
    found = Found()
    for step in steps:
        try:
            after = step.resource.write(step.change.before, step.change.after)
        except DruidError as error:
            found = _with_trouble(found, step.what, error)
            if _is_silent(found):
                return found
            continue
        done = replace(step, change=Change(step.change.before, after))
        is_as_wanted = are_same(step.resource.merge(after), after)
        made = {**found.made, step.kind: "" if is_as_wanted else _made(step.resource, after)}
        warnings = (*found.warnings, *step.resource.warnings)
        found = replace(found, steps=(*found.steps, done), warnings=warnings, made=made)
    return found


def _made(resource: DynamicConfig, now: Any) -> str:
    return digest([resource.desired, now])


def _with_trouble(found: Found, what: str, error: DruidError) -> Found:
    finding = trouble.finding(error)
    told = replace(finding, message=f"{what[0].upper()}{what[1:]}: {finding.message}")
    return replace(found, findings=(*found.findings, told))


def _is_silent(found: Found) -> bool:
    return found.findings[-1].reason == reasons.DRUID_UNREACHABLE
