# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Dynamic configurations: the kinds, their canonical form, as Druid returns it, and their desired state. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.canonical import canonical
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import (
    drop_null_fields,
    merge,
    replace_list,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import unknown_fields
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput, displayed
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path, changed_at, value_at


@dataclass(frozen=True)
class ConfigKind:
    """
    A kind of dynamic configuration.

    ``id``: its id in results. ``name``: its owner in messages. ``path``: of GET and POST. ``since``: the first release
    of Druid that has it. ``is_replaced``: POST replaces the whole configuration, so that a missing field is reset to
    its default; otherwise a field that is missing or null keeps its value. ``kind``: that of the table. ``exact``:
    lists whose elements replace the current ones as specified. ``history``: the path of the audit history, if any.
    """

    id: str
    name: str
    path: str
    kind: str
    is_replaced: bool = False
    since: int = 0
    exact: tuple[Path, ...] = ()
    has_history: bool = True

    @property
    def history(self) -> str:
        return f"{self.path}/history" if self.has_history else ""


COORDINATOR = ConfigKind("coordinator", "the Coordinator", "/druid/coordinator/v1/config", "coordinatorConfig")
OVERLORD = ConfigKind("overlord", "the Overlord", "/druid/indexer/v1/worker", "overlordConfig", is_replaced=True)
# Up to Druid 35 POST replaces it, but it has only one field there.
TASK_RUNNER = ConfigKind(
    "kubernetes_task_runner",
    "the Kubernetes task runner",
    "/druid/indexer/v1/k8s/taskrunner/executionconfig",
    "taskRunnerConfig",
    since=31,
    exact=(("podTemplateSelectStrategy", "selectors"),),
)
BROKER = ConfigKind(
    "broker",
    "the Brokers",
    "/druid/coordinator/v1/broker/config",
    "brokerConfig",
    since=37,
    exact=(("queryBlocklist",),),
)
COMPACTION = ConfigKind(
    "compaction",
    "automatic compaction",
    "/druid/indexer/v1/compaction/config/cluster",
    "compactionConfig",
    has_history=False,
)


def canonical_config(kind: ConfigKind, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration, as specified by a user or returned by GET, in the form of the latter, sets sorted."""
    return dict(canonical(kind.kind, config))


def merged_config(kind: ConfigKind, before: Mapping[str, Any], desired: Mapping[str, Any]) -> dict[str, Any]:
    """Return the desired configuration. InvalidInput if a field cannot be reset to its default."""
    after = dict(drop_null_fields(before, desired, merge(before, desired, kind.kind)))
    if not kind.is_replaced:
        nulls = [name for name, value in desired.items() if value is None and before.get(name) is not None]
        after.update({name: _empty_value(name, before[name]) for name in nulls})
    for path in kind.exact:
        after = _with_list_replaced(path, before, desired, after)
    return after


def unknown_config(kind: ConfigKind, before: Mapping[str, Any], desired: Any) -> Iterator[Path]:
    """Yield the paths in ``desired`` that this version of Druid does not know, as far as ``before`` shows."""
    # Druid returns nothing for a configuration that was never set, so its fields are unknown
    return unknown_fields(before, desired, kind.kind) if before else iter(())


def _with_list_replaced(path: Path, before: Any, specified: Any, after: dict[str, Any]) -> dict[str, Any]:
    current, desired = value_at(before, path), value_at(specified, path)
    if not (isinstance(current, list) and isinstance(desired, list)):
        return after
    return dict(changed_at(after, path, lambda _merged: replace_list(current, desired)))


def _empty_value(name: str, value: Any) -> Any:
    """Return the value that resets a list or a mapping. Null would keep the current value."""
    if isinstance(value, list | Mapping):
        return type(value)()
    current = displayed(value)
    raise InvalidInput(name, None, f"this field cannot be reset to its default (current value: {current}); set a value")
