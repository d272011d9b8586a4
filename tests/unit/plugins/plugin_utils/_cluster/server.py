# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Live objects as an API server stores them, with managed fields."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import FieldSet, field_set

Manifest = dict[str, Any]

CREATED = "2026-01-02T03:04:05Z"


def entry(manager: str, fields: FieldSet, operation: str = "Apply", subresource: str | None = None) -> Manifest:
    """Return an entry of the managed fields."""
    more = {"subresource": subresource} if subresource else {}
    common = {"apiVersion": "v1", "time": CREATED, "fieldsType": "FieldsV1", "fieldsV1": fields}
    return {"manager": manager, "operation": operation, **common, **more}


def stored(manifest: Manifest, *others: Manifest) -> Manifest:
    """Return the object after our apply of a manifest; `others` are further entries of its managed fields."""
    live = deepcopy(manifest)
    name = manifest["metadata"]["name"]
    live["metadata"] |= {
        "uid": f"uid-of-{name}",
        "resourceVersion": "1",
        "generation": 1,
        "creationTimestamp": CREATED,
        "managedFields": [entry("druidops", field_set(manifest)), *others],
    }
    return live


def written_by(manager: str, manifest: Manifest, operation: str = "Update") -> Manifest:
    """Return the object as another manager has written it."""
    live = stored(manifest)
    live["metadata"]["managedFields"] = [entry(manager, field_set(manifest), operation)]
    return live


def converged(desired: Desired) -> Observed:
    """Return the observed state after all desired objects have been applied."""
    return Observed().with_objects(stored(manifest) for manifest in desired.objects)
