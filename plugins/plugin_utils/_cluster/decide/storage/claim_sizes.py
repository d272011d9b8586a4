# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The size of a PVC, of its volume, and of a volume claim template."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._values import quantity

CLAIM = "PersistentVolumeClaim"


class Size(NamedTuple):
    """The size of a PVC or of a volume claim template."""

    name: str
    text: str
    amount: Decimal


def requested_size(claim: Mapping[str, Any]) -> Size | None:
    """Return the size that a PVC or a template requests; None if it is not a quantity."""
    return _size_of(claim, (((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}).get("storage"))


def capacity(claim: Mapping[str, Any]) -> Size | None:
    """Return the size of the file system, which is less than the request during an expansion; None if it is unknown."""
    return _size_of(claim, ((claim.get("status") or {}).get("capacity") or {}).get("storage"))


def sizes_of_templates(templates: Iterable[Mapping[str, Any]]) -> dict[str, Size]:
    """Return the request of each volume claim template, by name."""
    found = ((template_name(template), requested_size(template)) for template in templates)
    return {name: size for name, size in found if size is not None}


def template_name(template: Mapping[str, Any]) -> str:
    """Return the name of a volume claim template."""
    return str((template.get("metadata") or {}).get("name", ""))


def _size_of(claim: Mapping[str, Any], text: Any) -> Size | None:
    amount = quantity.parse(text)
    return None if amount is None else Size(template_name(claim), str(text), amount)
