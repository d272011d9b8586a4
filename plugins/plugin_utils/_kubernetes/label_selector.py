# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which labels a LabelSelector of the API matches. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def matches(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """True if the selector matches: an empty one matches all labels, none at all matches nothing."""
    if selector is None:
        return False
    return (selector.get("matchLabels") or {}).items() <= labels.items() and all(
        _satisfies(labels, **each) for each in selector.get("matchExpressions") or ()
    )


def _satisfies(labels: Mapping[str, str], key: str, operator: str, values: list[str] | None = None) -> bool:
    """True if the labels satisfy a requirement; a label that does not exist satisfies NotIn."""
    if operator in ("Exists", "DoesNotExist"):
        return (key in labels) == (operator == "Exists")
    return (labels.get(key) in (values or ())) == (operator == "In")
