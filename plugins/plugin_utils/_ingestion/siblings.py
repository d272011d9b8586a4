# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The other ingestions of a namespace that use the same Druid, and their order. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion, canonical_url


def of_same_druid(ingestion: Ingestion, siblings: Iterable[Ingestion]) -> list[Ingestion]:
    """Return the other resources for the same Druid that are not terminating."""
    own = _target(ingestion)
    return [each for each in siblings if not each.is_terminating and _target(each) == own]


def age(ingestion: Ingestion) -> tuple[str, str]:
    """Return the sort key that has the oldest resource first: it owns what several specify."""
    # an ingestion without a resource has no age: it counts as the youngest
    return ingestion.created or "9999", ingestion.uid or ""


def _target(ingestion: Ingestion) -> tuple[str | None, Any]:
    """Return the specified Druid; an invalid value is a target of its own."""
    endpoint = ingestion.spec.get("endpoint")
    return ingestion.cluster, canonical_url(endpoint.get("url") if isinstance(endpoint, Mapping) else endpoint)
