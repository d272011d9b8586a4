# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Warnings about PVCs that are smaller than the spec requests: an expansion is not implemented yet."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.pvc_sizes import (
    Size,
    requested,
    requests_of_templates,
    size_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.scale_down import pvcs_above
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

CLAIM = "PersistentVolumeClaim"


def undersized_pvcs(inputs: Inputs) -> tuple[str, ...]:
    """Return a warning for each request of the spec that is larger than that of existing PVCs."""
    return tuple(warning for group in inputs.cluster.groups for warning in _undersized(group, inputs))


def _undersized(group: Group, inputs: Inputs) -> Iterator[str]:
    where = f"spec.nodes[{group.key}]"
    for manifest in inputs.desired.groups.get(group.key, ()):
        if manifest["kind"] == CLAIM:
            name = manifest["metadata"]["name"]
            asked = size_of(name, requested(manifest))
            yield from _warning(f"{where}.persistentVolumeClaim[{name}]", asked, [name], inputs.live)
        elif manifest["kind"] == "StatefulSet":
            for template, asked in requests_of_templates(group.concatenated("volumeClaimTemplates")).items():
                names = pvcs_above(manifest["metadata"]["name"], [template], 0, inputs.live)
                yield from _warning(f"{where}.volumeClaimTemplates[{template}]", asked, names, inputs.live)


def _warning(where: str, asked: Size | None, names: list[str], observed: Observed) -> Iterator[str]:
    found = (observed.objects.get(ObjectKey(CLAIM, name)) for name in names)
    sizes = (size_of(live["metadata"]["name"], requested(live)) for live in found if live is not None)
    smaller = [size for size in sizes if size is not None and asked is not None and size.amount < asked.amount]
    if asked is not None and smaller:
        listed = join_limited(f"{size.name} ({size.text})" for size in smaller)
        yield (
            f"{where}: the spec requests {asked.text}, but these PVCs keep their size, because existing PVCs are not "
            f"expanded yet: {listed}. Druid can fill their volumes. Patch the requests of the PVCs, if their storage "
            "class permits an expansion"
        )
