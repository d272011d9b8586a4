# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Calls of Druid's API: the questions of a decision, and what is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import Resource, converge
from ansible_collections.druidops.druid.plugins.module_utils._resources.answers import answers
from ansible_collections.druidops.druid.plugins.module_utils._resources.compaction import Compaction
from ansible_collections.druidops.druid.plugins.module_utils._resources.config_list import AUTHOR
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import audit
from ansible_collections.druidops.druid.plugins.module_utils._resources.dynamic_config import DynamicConfig
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import Question
from ansible_collections.druidops.druid.plugins.module_utils._resources.remembered import RememberedDocument
from ansible_collections.druidops.druid.plugins.module_utils._resources.retention_rules import RetentionRules
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import Supervisor
from ansible_collections.druidops.druid.plugins.module_utils._spec.dynamic_config import (
    BROKER,
    COORDINATOR,
    OVERLORD,
    TASK_RUNNER,
    ConfigKind,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import (
    COMPACTION,
    DYNAMIC_CONFIG,
    RETENTION_RULES,
    SUPERVISOR,
    DruidChange,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import error_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding


def ask(client: DruidClient, questions: Iterable[Question[Any]]) -> dict[Question[Any], Any]:
    """Return the answer to each question, or why there is none, with a message about the resource."""
    return answers(client, questions, lambda error: error_finding(error).message)


# The ids of dynamic configurations: the fields of a Druid resource's dynamicConfig.
DYNAMIC_CONFIGS: Mapping[str, ConfigKind] = {
    "coordinator": COORDINATOR,
    "overlord": OVERLORD,
    "broker": BROKER,
    "kubernetesTaskRunner": TASK_RUNNER,
}

# (client, id, desired) -> the resource
_RESOURCES: Mapping[str, Callable[[DruidClient, str, Any], Resource]] = {
    SUPERVISOR: lambda client, _id, desired: Supervisor(client, desired),
    COMPACTION: Compaction,
    RETENTION_RULES: RetentionRules,
    DYNAMIC_CONFIG: lambda client, name, desired: DynamicConfig(client, DYNAMIC_CONFIGS[name], desired),
}


class Written(NamedTuple):
    """The state of an object after a write, the warnings of the write, and those about fields that Druid drops."""

    after: Any
    warnings: tuple[str, ...]
    unknown: tuple[str, ...] = ()


def fetch_change(client: DruidClient, kind: str, name: str, what: str, desired: Any) -> DruidChange:
    """Return the change that leads to the desired state. Only GETs are sent.

    A difference that only comes from Druid's normalization is a warning, not a change.
    """
    return change_of(_RESOURCES[kind](client, name, desired), kind, name, what, desired)


def change_of(resource: Resource, kind: str, name: str, what: str, desired: Any) -> DruidChange:
    """Return the change of a resource that leads to its desired state. Only GETs are sent."""
    found = converge(resource, check_mode=True)
    memory = resource.memory if isinstance(resource, RememberedDocument) else None
    warnings, unknown = tuple(resource.warnings), tuple(resource.unknown)
    return DruidChange(kind, name, what, desired, found.before, found.after, warnings, unknown, memory)


@dataclass(frozen=True)
class ConfigChanges:
    """The changes of dynamic configurations that differ, findings about those that cannot be read, and warnings."""

    changes: tuple[DruidChange, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()


def find_configs(client: DruidClient, desired: Mapping[str, Mapping[str, Any]]) -> ConfigChanges:
    """Return the changes that lead to the desired configuration of each kind. Only GETs are sent.

    An error of one kind blocks that kind only. After a connection error no further request is sent.
    """
    found = ConfigChanges()
    for name, config in desired.items():
        what = f"{DYNAMIC_CONFIG} of {DYNAMIC_CONFIGS[name].name}"
        try:
            change = fetch_change(client, DYNAMIC_CONFIG, name, what, config)
        except DruidError as error:
            finding = error_finding(error, what)
            found = replace(found, findings=(*found.findings, finding))
            if finding.reason == reasons.DRUID_UNREACHABLE:
                return found
            continue
        changes = (*found.changes, change) if change.changed else found.changes
        found = replace(found, changes=changes, warnings=(*found.warnings, *change.warnings))
    return found


def write_change(client: DruidClient, change: DruidChange) -> Written:
    """Write the change. DruidError if it failed; UncertainState if the resulting state is not the desired one."""
    resource = _RESOURCES[change.kind](client, change.id, change.desired)
    if isinstance(resource, RememberedDocument) and change.memory is not None:
        resource.memory = change.memory
    return write_resource(resource, change)


def write_resource(resource: Resource, change: DruidChange) -> Written:
    """Write the change of a resource, likewise."""
    after = resource.write(change.before, change.after)
    return Written(after, tuple(resource.warnings), tuple(resource.unknown))


def post(client: DruidClient, path: str, body: Any, comment: str, *, idempotent: bool) -> None:
    """Send a POST, again if Druid does not respond and it is idempotent. DruidError if it fails.

    The comment is for the audit history of Druid.
    """
    client.post(path, body, idempotent=idempotent, audit=audit(AUTHOR, comment))
