# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields of other managers in a recreated object: an annotation that restarted its pods, a sidecar, a label.

Without them the new object would have another pod template, and its pods would be replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    GO_OPERATOR_HASH,
    foreign_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_set import (
    FieldSet,
    below,
    difference,
    field_set,
    union,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import merge, remove
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest

_LABELS, _ANNOTATIONS = ("f:metadata", "f:labels"), ("f:metadata", "f:annotations")
_TEMPLATE = ("f:spec", "f:template")
# Fields outside of these may be the reason for the recreation.
_CARRIED_OVER: Mapping[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(WORKLOADS, (_LABELS, _ANNOTATIONS, _TEMPLATE)),
    "Service": (_LABELS, _ANNOTATIONS),
}


def with_foreign_fields(live: Manifest, manifest: Manifest) -> Manifest:
    """Return the manifest with the fields of the live object that only other managers own.

    A pod template that the manifest omits is copied from the live object.
    """
    specified = field_set(manifest)
    added = _foreign_fields(live, specified)
    if not added and _has_template_if_workload(manifest):
        return manifest
    kept = remove(live, difference(field_set(live), union(added, specified)))
    metadata = {name: kept["metadata"][name] for name in ("labels", "annotations") if name in kept["metadata"]}
    source = kept if _has_template_if_workload(manifest) else live
    spec = {name: value for name, value in source.get("spec", {}).items() if name == "template"}
    return merge({"metadata": metadata, "spec": spec}, manifest)


def _foreign_fields(live: Manifest, specified: FieldSet) -> FieldSet:
    fields = difference(foreign_fields(live), specified)
    fields = difference(fields, below(fields, *GO_OPERATOR_HASH))
    return reduce(union, (below(fields, *path) for path in _CARRIED_OVER.get(live["kind"], ())), {})


def _has_template_if_workload(manifest: Manifest) -> bool:
    return not _is_workload(manifest) or "template" in manifest["spec"]


def _is_workload(manifest: Manifest) -> bool:
    return manifest["kind"] in WORKLOADS
