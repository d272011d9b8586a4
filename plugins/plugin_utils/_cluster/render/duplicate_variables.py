# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Remove duplicates of environment variables, so that every other variable keeps its value.

The last entry of a name is the value of the variable. But `$(NAME)` in the value of a variable is the entry of that
name before it: such an entry is kept under another name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

# Kubernetes' syntax (k8s.io/kubernetes/third_party/forked/golang/expansion): $$ is an escaped $.
_REFERENCE = re.compile(r"\$\$|\$\(([^)]*)\)")


@dataclass(frozen=True)
class Variable:
    """An entry of `env`; `alias` is the name that an earlier entry of a name can be kept under."""

    item: Mapping[str, Any]
    alias: str | None = None
    references: frozenset[str] = field(default=frozenset())


def without_duplicate_variables(items: list[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the variables with one entry per name, and a message for each other entry."""
    variables = list(_with_aliases(items))
    needed = _needed(variables)
    kept = [_renamed(each) for each in variables if each.alias is None or each.alias in needed]
    counts = Counter(item.get("name") for item in items)
    duplicates = [each for each in variables if each.alias is not None]
    return kept, [_message(each, counts[each.item["name"]], needed) for each in duplicates]


def _with_aliases(items: list[Mapping[str, Any]]) -> Iterator[Variable]:
    """Yield the variables, with references to earlier entries of a name replaced by references to their aliases."""
    last = {item.get("name"): position for position, item in enumerate(items)}
    current: dict[Any, str] = {}
    for position, item in enumerate(items):
        name = item.get("name")
        variable = _referring(item, current)
        current.pop(name, None)
        if name is not None and last[name] > position:
            # Not at the beginning: the image makes properties of variables that begin with druid_.
            current[name] = f"EARLIER_{position}_{name}"
            variable = Variable(variable.item, current[name], variable.references)
        yield variable


def _referring(item: Mapping[str, Any], aliases: Mapping[str, str]) -> Variable:
    value, found = item.get("value"), set()
    if not isinstance(value, str) or not aliases:
        return Variable(item)

    def replaced(match: re.Match[str]) -> str:
        if match[1] not in aliases:
            return match[0]
        found.add(aliases[match[1]])
        return f"$({aliases[match[1]]})"

    return Variable({**item, "value": _REFERENCE.sub(replaced, value)}, references=frozenset(found))


def _needed(variables: list[Variable]) -> set[str]:
    """Return the aliases that variables refer to which are kept: references lead backwards."""
    needed: set[str] = set()
    for variable in reversed(variables):
        if variable.alias is None or variable.alias in needed:
            needed |= variable.references
    return needed


def _renamed(variable: Variable) -> dict[str, Any]:
    return {**variable.item, **({"name": variable.alias} if variable.alias else {})}


def _message(variable: Variable, count: int, needed: set[str]) -> str:
    what = f"variable {variable.item['name']} is set {'twice' if count == 2 else f'{count} times'}"
    if variable.alias in needed:
        return f"{what}; the earlier value, which other variables refer to, is kept as {variable.alias}"
    kept = "only the other entry is kept" if count == 2 else "only the last entry is kept under this name"
    return f"{what}; {kept}"
