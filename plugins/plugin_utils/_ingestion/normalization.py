# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Druid's normalization of an applied spec, so that it does not count as drift.

Druid silently drops unknown fields, and normalizes some values. A digest of the normalized spec is recorded by the name
of the step. While Druid's spec matches the digest, it is not applied again, and a warning names the differences. After
any other change in Druid or in the resource it is applied again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import Change
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import Converge
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import SPEC_KEY
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.digest import digest

NORMALIZED_KEY = "normalized.json"

Normalized = Mapping[str, str]


def read_normalized(config_map: Manifest | None, ingestion: Ingestion) -> Normalized:
    """Return the digests in the ConfigMap of the record; empty if they belong to another spec."""
    data = (config_map or {}).get("data") or {}
    try:
        found = json.loads(data[NORMALIZED_KEY])
        normalized = {str(what): str(one) for what, one in found.items()}
        return normalized if json.loads(data[SPEC_KEY]) == ingestion.specified else {}
    except (AttributeError, KeyError, TypeError, ValueError):
        # there is none, or it was edited: it is determined again
        return {}


def with_normalized(config_map: Manifest, normalized: Normalized) -> Manifest:
    """Return the ConfigMap with the digests."""
    if not normalized:
        return config_map
    return {**config_map, "data": {**config_map["data"], NORMALIZED_KEY: json.dumps(normalized, sort_keys=True)}}


def skip_normalized(step: Converge, normalized: Normalized) -> Converge:
    """Return the step, without a change if the difference comes only from Druid's normalization; it gets a warning."""
    before, after = step.change.before, step.change.after
    if not _may_differ(step) or normalized.get(step.what) != digest(before):
        return step
    step.resource.compare(after, before)
    return replace(step, change=Change(before, before))


def find_normalized(applied: Iterable[str], steps: Iterable[Converge]) -> Normalized:
    """Return digests of the specs that Druid normalized in this reconcile; `applied` are names of steps."""
    names = set(applied)
    return {step.what: digest(step.change.before) for step in steps if step.what in names and _may_differ(step)}


def _may_differ(step: Converge) -> bool:
    """True when it exists and would change. A change of the suspension is drift, not normalization."""
    before, after = step.change.before, step.change.after
    if before is None or after is None or not step.change.changed:
        return False
    return bool(before.get("suspended")) == bool(after.get("suspended"))
