# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Dynamic configurations (``server.coordinator``, ``indexing.overlord.setup``, ``server.broker``). Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.druid_class import (
    DruidClass,
    Kind,
    in_form,
    of_kind,
    returns,
)
from ansible_collections.druidops.druid.plugins.module_utils._serde.forms import bounded, sorted_set, sorted_sets, texts


def _block_list(rules: Any) -> Any:
    """Return the rules by which Brokers block queries as Druid returns them (``QueryBlocklistRule``)."""
    return _each(rules, {"dataSources": sorted_set, "queryTypes": sorted_set, "contextMatches": texts})


def _selectors(selectors: Any) -> Any:
    """Return the selectors of pod templates for tasks as Druid returns them (``Selector``)."""
    return _each(selectors, {"context.tags": sorted_sets, "type": sorted_set, "dataSource": sorted_set})


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


def _categories(by_type: Any) -> Any:
    """Return the categories of workers by type of task. Druid returns no affinity as an empty mapping."""
    if not isinstance(by_type, Mapping):
        return by_type
    return {name: _with_affinity(each) for name, each in by_type.items()}


def _with_affinity(category: Any) -> Any:
    has_none = isinstance(category, Mapping) and category.get("categoryAffinity", {}) is None
    return {**category, "categoryAffinity": {}} if has_none else category


_STRATEGY = DruidClass(
    "indexing.overlord.setup.WorkerSelectStrategy",
    {
        "type": returns("equalDistribution"),
        "affinityConfig": of_kind("affinityConfig"),
        "taskLimits": returns({"maxSlotCountByType": {}, "maxSlotRatioByType": {}}, "taskLimits"),
        "workerCategorySpec": of_kind("workerCategorySpec"),
    },
    is_complete=True,
)
_SETS = ("killDataSourceWhitelist", "killPendingSegmentsSkipList", "decommissioningNodes", "turboLoadingNodes")


def _complete(source: str) -> DruidClass:
    return DruidClass(source, is_complete=True)


KINDS: Mapping[str, Kind] = {
    "coordinatorConfig": Kind(
        {
            "": DruidClass(
                "server.coordinator.CoordinatorDynamicConfig",
                {
                    **{name: in_form(sorted_set) for name in _SETS},
                    "balancerComputeThreads": in_form(partial(bounded, at_least=1)),
                },
                is_complete=True,
            )
        }
    ),
    "overlordConfig": Kind(
        {
            "": DruidClass(
                "indexing.overlord.setup.WorkerBehaviorConfig",
                {"selectStrategy": of_kind("selectStrategy"), "autoScaler": of_kind("autoScaler")},
                is_complete=True,
            )
        }
    ),
    "selectStrategy": Kind({"": _STRATEGY}),
    "autoScaler": Kind({}, types={"noop": "NoopAutoScaler"}),
    "affinityConfig": Kind(
        {
            "": DruidClass(
                "indexing.overlord.setup.AffinityConfig",
                {"affinity": in_form(sorted_sets), "strong": returns(False)},
                is_complete=True,
            )
        }
    ),
    "taskLimits": Kind(
        {
            "": DruidClass(
                "indexing.overlord.setup.TaskLimits",
                {"maxSlotCountByType": returns({}), "maxSlotRatioByType": returns({})},
                is_complete=True,
            )
        }
    ),
    "workerCategorySpec": Kind(
        {
            "": DruidClass(
                "indexing.overlord.setup.WorkerCategorySpec",
                {"categoryMap": returns({}, form=_categories), "strong": returns(False)},
                is_complete=True,
            )
        }
    ),
    "taskRunnerConfig": Kind(
        {
            "": DruidClass(
                "k8s.overlord.execution.KubernetesTaskRunnerDynamicConfig",
                {"podTemplateSelectStrategy": of_kind("podTemplateSelectStrategy")},
                is_complete=True,
            )
        }
    ),
    "podTemplateSelectStrategy": Kind(
        {
            "": DruidClass(
                "k8s.overlord.execution.SelectorBasedPodTemplateSelectStrategy", {"selectors": in_form(_selectors)}
            )
        }
    ),
    "brokerConfig": Kind(
        {
            "": DruidClass(
                "server.broker.BrokerDynamicConfig", {"queryBlocklist": in_form(_block_list)}, is_complete=True
            )
        }
    ),
    "compactionConfig": Kind({"": _complete("server.coordinator.ClusterCompactionConfig")}),
}
