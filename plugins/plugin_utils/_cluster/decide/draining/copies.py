# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A copy of the record of a drain, in the ConfigMap of the group, while its StatefulSet is recreated. Pure.

Between the deletion and the creation, the operator can be stopped. The ConfigMap is written before, and keeps the copy
until the StatefulSet with the record exists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.plan import GroupDrain
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.record import text_of, with_text
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.immutable import immutable_changes
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating

# What admission makes of the objects that seem to need a recreation.
Admitted = Mapping[ObjectKey, Manifest]


def with_copies(
    desired: Desired, found: Sequence[GroupDrain], live: Observed, admitted: Admitted | None = None
) -> Desired:
    """Return the desired objects, in which the ConfigMaps have the records of StatefulSets that are recreated."""
    drained = {each.group.key for each in found}
    groups = {
        key: tuple(_with_copy(manifests, live, admitted or {})) if key in drained else manifests
        for key, manifests in desired.groups.items()
    }
    return replace(desired, groups=groups)


def _with_copy(manifests: Sequence[Manifest], live: Observed, admitted: Admitted) -> list[Manifest]:
    record = next((text_of(each) for each in manifests if _is_recreated(each, live, admitted)), None)
    return [with_text(each, record) if each["kind"] == "ConfigMap" and record else each for each in manifests]


def _is_recreated(manifest: Manifest, live: Observed, admitted: Admitted) -> bool:
    if manifest["kind"] != "StatefulSet":
        return False
    found = live.objects.get(key_of(manifest))
    if found is None or is_terminating(found):
        return True
    return bool(immutable_changes(found, manifest, admitted.get(key_of(manifest))))
