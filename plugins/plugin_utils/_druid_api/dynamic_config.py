# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the specified dynamic configurations, and write those that differ (Druid 33: see ``_spec``'s kinds)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._spec.dynamic_config import canonical_config
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import error_findings
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DYNAMIC_CONFIG, DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.objects import (
    DYNAMIC_CONFIGS,
    Narrow,
    fetch_change,
    remaining_change,
    write_change,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


@dataclass(frozen=True)
class DynamicConfigChanges:
    """Planned or completed changes, findings about the others, and warnings.

    `remaining` is what would change again after the completed ones, since Druid has normalized it.
    """

    steps: tuple[DruidChange, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    remaining: tuple[DruidChange, ...] = ()


def find_changes(client: DruidClient, desired: Mapping[str, Mapping[str, Any]], narrow: Narrow) -> DynamicConfigChanges:
    """Return the changes that lead to the desired configuration of each kind. Only GETs are sent.

    An error of one kind blocks that kind only. After a connection error no further request is sent.
    """
    found = DynamicConfigChanges()
    for name, config in desired.items():
        try:
            change = _change(client, name, config, narrow)
        except DruidError as error:
            found = _with_error(found, _what(name), error)
            if _is_unreachable(found):
                return found
            continue
        steps = (*found.steps, change) if change.changed else found.steps
        found = replace(found, steps=steps, warnings=(*found.warnings, *change.warnings))
    return found


def write_changes(client: DruidClient, steps: Iterable[DruidChange]) -> DynamicConfigChanges:
    """Write the changes; return the completed ones with their result, and findings about the others."""
    found = DynamicConfigChanges()
    for step in steps:
        try:
            written = write_change(client, step)
        except DruidError as error:
            found = _with_error(found, step.what, error)
            if _is_unreachable(found):
                return found
            continue
        remaining = remaining_change(client, step, written.after)
        found = replace(
            found,
            steps=(*found.steps, replace(step, after=written.after)),
            warnings=(*found.warnings, *written.warnings, *remaining.warnings),
            remaining=(*found.remaining, remaining),
        )
    return found


def _change(client: DruidClient, name: str, config: Mapping[str, Any], narrow: Narrow) -> DruidChange:
    desired = canonical_config(DYNAMIC_CONFIGS[name], config)
    return fetch_change(client, DYNAMIC_CONFIG, name, _what(name), desired, narrow)


def _what(name: str) -> str:
    return f"{DYNAMIC_CONFIG} of {DYNAMIC_CONFIGS[name].name}"


def _with_error(found: DynamicConfigChanges, what: str, error: DruidError) -> DynamicConfigChanges:
    finding = error_findings.error_finding(error)
    prefixed = replace(finding, message=f"{what[0].upper()}{what[1:]}: {finding.message}")
    return replace(found, findings=(*found.findings, prefixed))


def _is_unreachable(found: DynamicConfigChanges) -> bool:
    return found.findings[-1].reason == reasons.DRUID_UNREACHABLE
