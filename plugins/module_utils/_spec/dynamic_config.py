# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Dynamic configurations: what kinds there are, how Druid gives them back, and what they shall be. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.list_replace import (
    replace_list,
    without_unknown_fields,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import drop_null_fields, merge
from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import (
    Complete,
    unknown_fields,
    without_fields,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.paths import Path, changed_at, value_at

_AT_TOP: Complete = {(): frozenset()}


def sorted_set(value: Any) -> Any:
    """Return a set, which Druid gives back in any order and takes as a text with commas, too, as a sorted list."""
    elements = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
    if not isinstance(elements, list) or not all(isinstance(each, str) for each in elements):
        return value
    return sorted({each for each in elements if each})


def _sets(mapping: Any) -> Any:
    return {name: sorted_set(value) for name, value in mapping.items()} if isinstance(mapping, Mapping) else mapping


def _block_list(rules: Any) -> Any:
    """Return the rules by which Brokers refuse queries as Druid gives them back (``QueryBlocklistRule``)."""
    return _each(rules, {"dataSources": sorted_set, "queryTypes": sorted_set, "contextMatches": _texts})


def _selectors(selectors: Any) -> Any:
    """Return what chooses the template of a task's pod as Druid gives it back (``Selector``)."""
    return _each(selectors, {"context.tags": _sets, "type": sorted_set, "dataSource": sorted_set})


def _each(elements: Any, fields: Mapping[str, Callable[[Any], Any]]) -> Any:
    """Return the elements with these fields in all of them: one that is left out is null, which is a meaning."""
    if not isinstance(elements, list):
        return elements
    return [
        {**each, **{name: change(each.get(name)) for name, change in fields.items()}}
        if isinstance(each, Mapping)
        else each
        for each in elements
    ]


def _texts(mapping: Any) -> Any:
    """Return a mapping whose values Druid keeps as text, which numbers and booleans may be stated for."""
    return {name: _text(value) for name, value in mapping.items()} if isinstance(mapping, Mapping) else mapping


def _text(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, bool | int | float) else value


@dataclass(frozen=True)
class Kind:
    """
    A kind of dynamic configuration.

    ``id``: how results call it. ``name``: whose it is. ``path``: of GET and POST. ``since``: the release of Druid that
    has it first. ``is_replaced``: POST replaces the whole of it, so that a field that is left out gets its default;
    otherwise a field that is left out or null keeps its value. ``fields``: what Druid does to their values.
    ``exact``: lists whose elements are wanted exactly as they are stated. ``complete``: see ``unknown_fields``.
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
# Up to Druid 35 POST replaces it, but there is a single field in it then.
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
    """Return a configuration, a person's or the answer to GET, in the form of that answer, sets sorted."""
    document: Any = config
    for place, change in kind.fields:
        document = changed_at(document, place, change)
    return dict(document)


def merged_config(kind: Kind, before: Mapping[str, Any], desired: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the configuration shall be; InvalidInput where a field cannot be brought back to its default."""
    specified = without_fields(desired, unknown_config(kind, before, desired))
    after = dict(drop_null_fields(before, specified, merge(before, specified)))
    if not kind.is_replaced:
        nulls = [name for name, value in specified.items() if value is None and before.get(name) is not None]
        after.update({name: _empty_value(name, before[name]) for name in nulls})
    for place in kind.exact:
        after = _with_list_replaced(place, before, specified, after)
    return after


def unknown_config(kind: Kind, before: Mapping[str, Any], desired: Any) -> Iterator[Path]:
    """Yield where ``desired`` has fields that this version of Druid does not know, as far as ``before`` tells."""
    # of one that has never been set nothing is given back, so that nothing is known of its fields
    return unknown_fields(before, desired, kind.complete) if before else iter(())


def _with_list_replaced(place: Path, before: Any, specified: Any, after: dict[str, Any]) -> dict[str, Any]:
    current, desired = value_at(before, place), value_at(specified, place)
    if not (isinstance(current, list) and isinstance(desired, list)):
        return after
    return dict(
        changed_at(after, place, lambda _merged: replace_list(current, without_unknown_fields(current, desired)))
    )


def _empty_value(name: str, value: Any) -> Any:
    """Return what brings a field to its default, where that is to be empty: null itself keeps what is there."""
    if isinstance(value, list | Mapping):
        return type(value)()
    raise InvalidInput(
        name, None, f"Druid has no way back to the default of this field, now {value!r}; state the value"
    )
