# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Retention rules: their canonical form, as Druid returns it, and their desired state. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.forms import whole
from ansible_collections.druidops.druid.plugins.module_utils._serde.times import canonical_interval, canonical_period
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import replace_list
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import changed_at
from ansible_collections.druidops.druid.plugins.module_utils._values.parse import parse_boolean, parse_whole_number

# The rules for datasources without a matching rule of their own.
DEFAULT = "_default"
# The defaults of fields that are not specified (Druid's LoadRule, PeriodLoadRule, PeriodDropRule ...).
_TIERS = {"_default_tier": 2}
_BY_PERIOD = "ByPeriod"
# The period of this rule is before what it drops, so it has no includeFuture.
_WITHOUT_FUTURE = "dropBeforeByPeriod"

Rule = dict[str, Any]


def canonical_rules(rules: list[Any]) -> list[Any]:
    """Return the rules as Druid's GET has them. Idempotent."""
    return [_canonical(rule) if isinstance(rule, Mapping) else rule for rule in rules]


def merged_rules(before: list[Any], datasource: str, desired: list[Any]) -> list[Any]:
    """Return the desired rules, all in canonical form. InvalidInput if the rules of the cluster would be empty."""
    if datasource == DEFAULT and not desired:
        remedy = "the rules of the cluster cannot be empty; to load everything, use a rule of type loadForever"
        raise InvalidInput("rules", [], remedy)
    return replace_list(before, desired)


def _canonical(rule: Mapping[str, Any]) -> Rule:
    specified: Rule = {
        name: value
        for name, value in rule.items()
        if value is not None and not (value == "" and name in _NULL_IF_EMPTY)
    }
    kind = str(specified.get("type"))
    if kind.startswith("load"):
        specified["useDefaultTierForNull"] = _flag(specified.get("useDefaultTierForNull", True))
        specified.setdefault("tieredReplicants", _TIERS if specified["useDefaultTierForNull"] is True else {})
    if kind.endswith(_BY_PERIOD) and kind != _WITHOUT_FUTURE:
        specified["includeFuture"] = _flag(specified.get("includeFuture", True))
    document: Any = specified
    for name, form in _FORMS.items():
        document = changed_at(document, (name,), form)
    return {name: value for name, value in document.items() if name not in _IGNORED}


def _flag(value: Any) -> Any:
    found = parse_boolean(value)
    return bool(found) if isinstance(found, int) else found


def _replicants(tiers: Any) -> Any:
    if not isinstance(tiers, Mapping):
        return tiers
    # Druid cuts off a fraction
    numbers = {tier: number // 1 if isinstance(number, float) else number for tier, number in tiers.items()}
    return {tier: parse_whole_number(whole(number)) for tier, number in numbers.items()}


_FORMS: Mapping[str, Callable[[Any], Any]] = {
    "interval": canonical_interval,
    "period": canonical_period,
    "tieredReplicants": _replicants,
}
# Druid reads an empty text as null.
_NULL_IF_EMPTY = ("period", "includeFuture", "useDefaultTierForNull")
# Druid accepts it in a broadcast rule without any effect.
_IGNORED = ("colocatedDataSources",)
