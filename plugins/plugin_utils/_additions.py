# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others have added to an object that is recreated: an annotation that restarted its pods, a sidecar, a label.

Without it the new object would have another pod template, and the pods that it is to keep would be replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from ansible_collections.druidops.druid.plugins.plugin_utils._field_set import (
    FieldSet,
    below,
    difference,
    field_set,
    union,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import WORKLOADS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._merge import merge, remove
from ansible_collections.druidops.druid.plugins.plugin_utils._ownership import (
    GO_OPERATOR_HASH,
    foreign,
)

_LABELS, _ANNOTATIONS = ("f:metadata", "f:labels"), ("f:metadata", "f:annotations")
_TEMPLATE = ("f:spec", "f:template")
# The rest of a specification is what an object may have to be recreated for.
_CARRIED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(WORKLOADS, (_LABELS, _ANNOTATIONS, _TEMPLATE)),
    "Service": (_LABELS, _ANNOTATIONS),
}


def with_additions(live: Manifest, manifest: Manifest) -> Manifest:
    """Return the manifest with what only others own of the live object, as it stands there.

    A pod template of which the manifest says nothing is taken over whole.
    """
    stated = field_set(manifest)
    added = _additions(live, stated)
    if not added and _says_all(manifest):
        return manifest
    kept = remove(live, difference(field_set(live), union(added, stated)))
    metadata = {name: kept["metadata"][name] for name in ("labels", "annotations") if name in kept["metadata"]}
    source = kept if _says_all(manifest) else live
    spec = {name: value for name, value in source.get("spec", {}).items() if name == "template"}
    return merge({"metadata": metadata, "spec": spec}, manifest)


def _additions(live: Manifest, stated: FieldSet) -> FieldSet:
    fields = difference(foreign(live), stated)
    fields = difference(fields, below(fields, *GO_OPERATOR_HASH))
    return reduce(union, (below(fields, *path) for path in _CARRIED.get(live["kind"], ())), {})


def _says_all(manifest: Manifest) -> bool:
    return not _is_workload(manifest) or "template" in manifest["spec"]


def _is_workload(manifest: Manifest) -> bool:
    return manifest["kind"] in WORKLOADS
