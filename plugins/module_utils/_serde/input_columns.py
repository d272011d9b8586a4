# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The columns that an aggregator reads (``AggregatorFactory.requiredFields``). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any


def input_columns(aggregator: Any) -> Iterator[str]:
    """Yield the name of an aggregator and its input columns, as far as they can be specified."""
    if not isinstance(aggregator, Mapping):
        return
    for name in ("name", "fieldName", "timeColumn"):
        yield from _names([aggregator.get(name)])
    for name in ("fieldNames", "fields", "metricColumns"):
        yield from _names(aggregator.get(name))
    for name in ("expression", "fold", "combine", "compare", "finalize"):
        yield from _in_expression(aggregator.get(name))
    inside = aggregator.get("aggregator")
    if isinstance(inside, Mapping):
        # its name is no column
        yield from input_columns({name: each for name, each in inside.items() if name != "name"})
    yield from _of_filter(aggregator.get("filter"))


def _names(columns: Any) -> Iterator[str]:
    """Yield columns, each of which is a name or a dimension spec."""
    for column in columns if isinstance(columns, list) else ():
        if isinstance(column, Mapping):
            yield from _names([column.get("dimension"), column.get("delegate")])
        elif isinstance(column, str):
            yield column


# In an expression: a literal, a function, an identifier in quotes, and a bare one. Possessive, so that it is linear.
_NAME = r"[A-Za-z_$][\w$]*+"
_TOKEN = re.compile(
    rf"""'(?:[^'\\]|\\.)*+'|{_NAME}\s*+\(|"(?P<quoted>(?:[^"\\]|\\.)*+)"|(?P<bare>{_NAME})""", re.DOTALL
)


def _in_expression(expression: Any) -> Iterator[str]:
    for match in _TOKEN.finditer(expression) if isinstance(expression, str) else ():
        if name := match["quoted"] or match["bare"]:
            yield name


def _of_filter(condition: Any) -> Iterator[str]:
    if not isinstance(condition, Mapping):
        return
    yield from _names([condition.get("dimension"), condition.get("column")])
    yield from _names(condition.get("dimensions"))
    yield from _in_expression(condition.get("expression"))
    inside = condition.get("fields")
    for each in (condition.get("field"), *(inside if isinstance(inside, list) else ())):
        yield from _of_filter(each)
