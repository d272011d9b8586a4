# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Druid has made of what it was given, where that is something else: giving it again would come to the same.

Druid drops a field that it does not know without a word, and some values it keeps in words of its own. What it has made
is put down beside the record, as a digest by the name of the step. As long as exactly that is there, it is left so, and
a warning says what is different; after any other change in Druid, or of the resource, all is given again.
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

NORMALIZED_KEY = "made.json"

Normalized = Mapping[str, str]


def read_normalized(config_map: Manifest | None, ingestion: Ingestion) -> Normalized:
    """Return what is put down in the ConfigMap of the record; nothing when that is about another specification."""
    data = (config_map or {}).get("data") or {}
    try:
        found = json.loads(data[NORMALIZED_KEY])
        normalized = {str(what): str(one) for what, one in found.items()}
        return normalized if json.loads(data[SPEC_KEY]) == ingestion.specified else {}
    except (AttributeError, KeyError, TypeError, ValueError):
        # there is none, or somebody has edited it: then it is found out anew
        return {}


def with_normalized(config_map: Manifest, normalized: Normalized) -> Manifest:
    """Return the ConfigMap with what Druid has made put into it."""
    if not normalized:
        return config_map
    return {**config_map, "data": {**config_map["data"], NORMALIZED_KEY: json.dumps(normalized, sort_keys=True)}}


def skip_normalized(step: Converge, normalized: Normalized) -> Converge:
    """Return the step; one without a change if Druid has made what is there of the same before. Its warnings say so."""
    before, after = step.change.before, step.change.after
    if not _may_differ(step) or normalized.get(step.what) != digest(before):
        return step
    step.resource.compare(after, before)
    return replace(step, change=Change(before, before))


def find_normalized(applied: Iterable[str], steps: Iterable[Converge]) -> Normalized:
    """Return what Druid has made of what it was given in this pass (names of steps), where it is something else."""
    names = set(applied)
    return {step.what: digest(step.change.before) for step in steps if step.what in names and _may_differ(step)}


def _may_differ(step: Converge) -> bool:
    """True when it is there and would be changed. Another suspension is somebody else's doing."""
    before, after = step.change.before, step.change.after
    if before is None or after is None or not step.change.changed:
        return False
    return bool(before.get("suspended")) == bool(after.get("suspended"))
