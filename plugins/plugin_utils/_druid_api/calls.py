# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Calls of Druid's API: the questions of a decision, and what is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    Forbidden,
    InvalidResponse,
    NotFound,
    Redirected,
    ServerError,
    Unauthorized,
    UnknownPath,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import Resource, converge
from ansible_collections.druidops.druid.plugins.module_utils._resources.compaction import Compaction
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import audit
from ansible_collections.druidops.druid.plugins.module_utils._resources.dynamic_config import DynamicConfig
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
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import request
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import (
    COMPACTION,
    DYNAMIC_CONFIG,
    RETENTION_RULES,
    SUPERVISOR,
    DruidChange,
    ListChange,
    entries_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.questions import (
    INVALID,
    NOT_CONNECTABLE,
    UNAUTHORIZED,
    UNREACHABLE,
    UNSUPPORTED,
    Question,
    Unavailable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import error_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding

_CAUSES: tuple[tuple[tuple[type[DruidError], ...], str], ...] = (
    ((Unauthorized, Forbidden), UNAUTHORIZED),
    ((UnknownPath, Redirected), UNSUPPORTED),
    ((Unreachable, ServerError, InvalidResponse), UNREACHABLE),
)
# A column that an older Druid does not have.
_UNKNOWN_COLUMN = "not found in any table"


def ask(client: DruidClient, questions: Iterable[Question[Any]]) -> dict[Question[Any], Any]:
    """Return the answer to each question, or why there is none. A Druid that does not respond is asked once only."""
    answers: dict[Question[Any], Any] = {}
    silence: Unavailable | None = None
    for question in questions:
        if silence is None:
            answers[question], is_silent = _answer(client, question)
            silence = answers[question] if is_silent else None
        else:
            answers[question] = silence
    return answers


def _answer(client: DruidClient, question: Question[Any]) -> tuple[Any, bool]:
    """Return the answer, or why there is none, and whether Druid did not respond at all."""
    try:
        document = _request(client, question)
    except DruidError as error:
        return _unavailable(question, error), isinstance(error, Unreachable)
    try:
        return question.read(document), False
    except (LookupError, TypeError, ValueError, AttributeError):
        cause = UNSUPPORTED if document is None else INVALID
        return Unavailable(cause, f"Druid's answer about its {question.name} cannot be read ({question.path})."), False


def _request(client: DruidClient, question: Question[Any]) -> Any:
    try:
        if question.sql:
            return client.post(question.path, {"query": question.sql, "resultFormat": "object"}, idempotent=True)
        return client.get(question.path, dict(question.params))
    except NotFound:
        return None


def _unavailable(question: Question[Any], error: DruidError) -> Unavailable:
    if isinstance(error, Unreachable) and not (error.is_transient or error.is_timeout):
        return Unavailable(NOT_CONNECTABLE, request.error_finding(error).message)
    cause = next((cause for kinds, cause in _CAUSES if isinstance(error, kinds)), INVALID)
    if question.sql and _UNKNOWN_COLUMN in str(error):
        cause = UNSUPPORTED
    return Unavailable(cause, request.error_finding(error).message)


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


ATTEMPTS = 3
_AUTHOR = "druidops"
# Ours, and the one before it.
_ENTRIES = 2


def post(client: DruidClient, path: str, body: Any, comment: str, *, idempotent: bool) -> None:
    """Send a POST, again if Druid does not respond and it is idempotent. DruidError if it fails.

    The comment is for the audit history of Druid.
    """
    client.post(path, body, idempotent=idempotent, audit=audit(_AUTHOR, comment))


def change_list(client: DruidClient, path: str, change: ListChange, comment: str) -> None:
    """Write the change, repeatedly if others overwrite it. DruidError if it fails.

    The list is read immediately before the write, and read back after it. What another client has written in between is
    in Druid's audit history, and is written again.
    """
    due = change
    for _attempt in range(ATTEMPTS):
        latest = _history(client, path, 1)
        before = _read(client, path, change.field)
        if due.is_applied(before):
            return
        post(client, path, {change.field: due.applied(before)}, comment, idempotent=True)
        overwritten = _overwritten(client, path, change.field, latest)
        due = due if overwritten is None else due.with_lost(before, overwritten)
    if not due.is_applied(_read(client, path, change.field)):
        raise DruidError(f"{change.field}: other clients have overwritten the change. {comment}")


def _read(client: DruidClient, path: str, field: str) -> list[str]:
    return entries_of(client.get(path) or {}, field)


def _overwritten(client: DruidClient, path: str, field: str, latest: list[Any]) -> list[str] | None:
    """Return the list that another client has written since `latest`, and that the last write has replaced.

    None if there is none, as far as Druid's history has it.
    """
    found = _history(client, path, _ENTRIES)
    if len(found) < _ENTRIES or not _is_ours(found[0]) or found[1:2] == latest[:1]:
        return None
    return _payload(found[1], field)


def _history(client: DruidClient, path: str, entries: int) -> list[Any]:
    """Return the last entries of Druid's audit history, the latest one first; none if it does not answer."""
    try:
        found = client.get(f"{path}/history", {"count": entries})
    except DruidError:
        return []
    return found if isinstance(found, list) else []


def _is_ours(entry: Any) -> bool:
    return isinstance(entry, Mapping) and (entry.get("auditInfo") or {}).get("author") == _AUTHOR


def _payload(entry: Any, field: str) -> list[str] | None:
    try:
        config = json.loads(entry["payload"])
    except (LookupError, TypeError, ValueError):
        return None
    return entries_of(config, field) if isinstance(config, Mapping) else None
