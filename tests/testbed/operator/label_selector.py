# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Label selectors: those of watches.yaml, and those of requests as far as the cache understands them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?", re.ASCII)
_VALUE = re.compile(r"([A-Za-z0-9]([-\w.]*[A-Za-z0-9])?)?", re.ASCII)
_OPERATORS: dict[str, Callable[[str | None, list[str]], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _values: value is not None,
    "DoesNotExist": lambda value, _values: value is None,
}


def selected(labels: Mapping[str, str], selector: Mapping[str, Any]) -> bool:
    """Whether a Kubernetes LabelSelector selects an object with these labels; an empty one selects all."""
    wanted = selector.get("matchLabels") or {}
    expressions = selector.get("matchExpressions") or []
    return wanted.items() <= labels.items() and all(
        _OPERATORS[each["operator"]](labels.get(each["key"]), each.get("values", [])) for each in expressions
    )


def equalities(text: str) -> dict[str, str] | None:
    """The labels that a selector of the form a=b,c=d asks for; None for any other form, == among them."""
    pairs = [part.split("=") for part in text.split(",")] if text else []
    if any(len(pair) != 2 for pair in pairs):
        return None
    wanted = {key.strip(): value.strip() for key, value in pairs}
    well_formed = all(_KEY.fullmatch(key) and _VALUE.fullmatch(value) for key, value in wanted.items())
    return wanted if well_formed else None
