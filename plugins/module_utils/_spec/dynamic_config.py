# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Dynamic configurations: the kinds, their canonical form, as Druid returns it, and their desired state. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import (
    drop_null_fields,
    merge,
    replace_list,
    without_unknown_fields,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import (
    Complete,
    unknown_fields,
    without_fields,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path, changed_at, value_at

_AT_TOP: Complete = {(): frozenset()}


def sorted_set(value: Any) -> Any:
    """Return a set as a sorted list. Druid returns sets in any order, and also accepts a comma-separated string."""
    elements = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
    if not isinstance(elements, list) or not all(isinstance(each, str) for each in elements):
        return value
    return sorted({each for each in elements if each})


def _sets(mapping: Any) -> Any:
    return {name: sorted_set(value) for name, value in mapping.items()} if isinstance(mapping, Mapping) else mapping


def _block_list(rules: Any) -> Any:
    """Return the rules by which Brokers block queries as Druid returns them (``QueryBlocklistRule``)."""
    return _each(rules, {"dataSources": sorted_set, "queryTypes": sorted_set, "contextMatches": _texts})


def _selectors(selectors: Any) -> Any:
    """Return the selectors of pod templates for tasks as Druid returns them (``Selector``)."""
    return _each(selectors, {"context.tags": _sets, "type": sorted_set, "dataSource": sorted_set})


def _each(elements: Any, fields: Mapping[str, Callable[[Any], Any]]) -> Any:
    """Return the elements, all with these fields. A missing field is null, which is significant."""
    if not isinstance(elements, list):
        return elements
    return [
        {**each, **{name: change(each.get(name)) for name, change in fields.items()}}
        if isinstance(each, Mapping)
        else each
        for each in elements
    ]


def _texts(mapping: Any) -> Any:
    """Return a mapping with its numbers and booleans as strings, as Druid stores them."""
    return {name: _text(value) for name, value in mapping.items()} if isinstance(mapping, Mapping) else mapping


def _text(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, bool | int | float) else value


@dataclass(frozen=True)
class Kind:
    """
    A kind of dynamic configuration.

    ``id``: its id in results. ``name``: its owner in messages. ``path``: of GET and POST. ``since``: the first release
    of Druid that has it. ``is_replaced``: POST replaces the whole configuration, so that a missing field is reset to
    its default; otherwise a field that is missing or null keeps its value. ``fields``: how Druid normalizes fields.
    ``exact``: lists whose elements replace the current ones as specified. ``complete``: see ``unknown_fields``.
    """

    id: str
    name: str
    path: str
    is_replaced: bool = False
    since: int = 0
    fields: tuple[tuple[Path, Callable[[Any], Any]], ...] = ()
    exact: tuple[Path, ...] = ()
    complete: Complete = field(default_factory=lambda: _AT_TOP)


COORDINATOR = Kind(
    "coordinator",
    "the Coordinator",
    "/druid/coordinator/v1/config",
    fields=tuple(
        ((name,), sorted_set)
        for name in (
            "killDataSourceWhitelist",
            "killPendingSegmentsSkipList",
            "decommissioningNodes",
            "turboLoadingNodes",
        )
    ),
)
OVERLORD = Kind(
    "overlord",
    "the Overlord",
    "/druid/indexer/v1/worker",
    is_replaced=True,
    fields=((("selectStrategy", "affinityConfig", "affinity"), _sets),),
    complete={
        **_AT_TOP,
        ("selectStrategy",): frozenset(),
        ("selectStrategy", "affinityConfig"): frozenset(),
        ("selectStrategy", "taskLimits"): frozenset(),
        ("selectStrategy", "workerCategorySpec"): frozenset(),
    },
)
# Up to Druid 35 POST replaces it, but it has only one field there.
TASK_RUNNER = Kind(
    "kubernetes_task_runner",
    "the Kubernetes task runner",
    "/druid/indexer/v1/k8s/taskrunner/executionconfig",
    since=31,
    fields=((("podTemplateSelectStrategy", "selectors"), _selectors),),
    exact=(("podTemplateSelectStrategy", "selectors"),),
)
BROKER = Kind(
    "broker",
    "the Brokers",
    "/druid/coordinator/v1/broker/config",
    since=37,
    fields=((("queryBlocklist",), _block_list),),
    exact=(("queryBlocklist",),),
)
COMPACTION = Kind("compaction", "automatic compaction", "/druid/indexer/v1/compaction/config/cluster")


def canonical_config(kind: Kind, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration, as specified by a user or returned by GET, in the form of the latter, sets sorted."""
    document: Any = config
    for path, change in kind.fields:
        document = changed_at(document, path, change)
    return dict(document)


def merged_config(kind: Kind, before: Mapping[str, Any], desired: Mapping[str, Any]) -> dict[str, Any]:
    """Return the desired configuration. InvalidInput if a field cannot be reset to its default."""
    specified = without_fields(desired, unknown_config(kind, before, desired))
    after = dict(drop_null_fields(before, specified, merge(before, specified)))
    if not kind.is_replaced:
        nulls = [name for name, value in specified.items() if value is None and before.get(name) is not None]
        after.update({name: _empty_value(name, before[name]) for name in nulls})
    for path in kind.exact:
        after = _with_list_replaced(path, before, specified, after)
    return after


def unknown_config(kind: Kind, before: Mapping[str, Any], desired: Any) -> Iterator[Path]:
    """Yield the paths in ``desired`` that this version of Druid does not know, as far as ``before`` shows."""
    # Druid returns nothing for a configuration that was never set, so its fields are unknown
    return unknown_fields(before, desired, kind.complete) if before else iter(())


def _with_list_replaced(path: Path, before: Any, specified: Any, after: dict[str, Any]) -> dict[str, Any]:
    current, desired = value_at(before, path), value_at(specified, path)
    if not (isinstance(current, list) and isinstance(desired, list)):
        return after
    return dict(
        changed_at(after, path, lambda _merged: replace_list(current, without_unknown_fields(current, desired)))
    )


def _empty_value(name: str, value: Any) -> Any:
    """Return the value that resets a list or a mapping. Null would keep the current value."""
    if isinstance(value, list | Mapping):
        return type(value)()
    raise InvalidInput(name, None, f"this field cannot be reset to its default (current value: {value!r}); set a value")
