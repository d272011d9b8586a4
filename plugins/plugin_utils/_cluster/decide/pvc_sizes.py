# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sizes of PVCs and of volume claim templates."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._values import quantity


class Size(NamedTuple):
    """The size of a PVC or of a volume claim template."""

    name: str
    text: str
    amount: Decimal


def requests_of_templates(templates: list[Mapping[str, Any]]) -> dict[str, Size]:
    """Return the request of each volume claim template."""
    named = (((template.get("metadata") or {}).get("name", ""), template) for template in templates)
    found = {name: size_of(name, requested(template)) for name, template in named}
    return {name: size for name, size in found.items() if size is not None}


def requested(claim: Mapping[str, Any]) -> Any:
    """Return the storage that a PVC or a template requests."""
    return (((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}).get("storage")


def size_of(name: str, text: Any) -> Size | None:
    """Return the size of what has this name; None if the text is not a quantity."""
    amount = quantity.parse(text)
    return None if amount is None else Size(name, str(text), amount)
