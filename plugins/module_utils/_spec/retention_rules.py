# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Retention rules in the form in which Druid gives them back, and what they shall be. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._errors import BadInput
from ansible_collections.druidops.druid.plugins.module_utils._spec.interval import canonical_interval
from ansible_collections.druidops.druid.plugins.module_utils._spec.paths import changed_at
from ansible_collections.druidops.druid.plugins.module_utils._spec.scalar import boolean, whole_number
from ansible_collections.druidops.druid.plugins.module_utils._spec.whole_list import replaced, without_unknown

# The rules of every datasource that has none that fit.
DEFAULT = "_default"
# What counts where a field is not stated (Druid's LoadRule, PeriodLoadRule, PeriodDropRule ...).
_TIERS = {"_default_tier": 2}
_BY_PERIOD = "ByPeriod"
# This one looks back from the end of what it drops: nothing in the future is meant.
_WITHOUT_FUTURE = "dropBeforeByPeriod"

Rule = dict[str, Any]


def canonical_rules(rules: list[Any]) -> list[Any]:
    """Return the rules as Druid's GET has them; applied twice, it changes nothing more."""
    return [_canonical(rule) if isinstance(rule, Mapping) else rule for rule in rules]


def changed_rules(before: list[Any], datasource: str, desired: list[Any]) -> list[Any]:
    """Return the rules that there shall be, both lists in canonical form; BadInput if Druid cannot be without them."""
    if datasource == DEFAULT and not desired:
        remedy = "the rules of the cluster cannot be empty; to load everything, state one of type loadForever"
        raise BadInput("rules", [], remedy)
    return replaced(before, without_unknown(before, desired))


def _canonical(rule: Mapping[str, Any]) -> Rule:
    stated: Rule = {name: value for name, value in rule.items() if value is not None}
    kind = str(stated.get("type"))
    if kind.startswith("load"):
        stated["useDefaultTierForNull"] = boolean(stated.get("useDefaultTierForNull", True))
        stated.setdefault("tieredReplicants", _TIERS if stated["useDefaultTierForNull"] is True else {})
    if kind.endswith(_BY_PERIOD) and kind != _WITHOUT_FUTURE:
        stated["includeFuture"] = boolean(stated.get("includeFuture", True))
    return {**changed_at(changed_at(stated, ("interval",), canonical_interval), ("tieredReplicants",), _replicants)}


def _replicants(tiers: Any) -> Any:
    return {tier: whole_number(number) for tier, number in tiers.items()} if isinstance(tiers, Mapping) else tiers
