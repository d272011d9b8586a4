# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The write of a workload whose pods must not restart yet: all of it but the pod template.

Nor its update strategy, if that is what has kept pods of an old revision so far, or the drain of its pods would begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.record import held_text, with_text
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import same_object
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import owned_fields
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_set import (
    below,
    difference,
    field_set,
    union,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import remove
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest

_TEMPLATE, _STRATEGY = "template", "updateStrategy"


def without_restart(step: Step) -> Step | None:
    """Return the step with the live pod template; None if nothing else changes.

    A recreated workload waits as a whole, and so does one whose field ownership has to be migrated.
    """
    live, after = step.live, step.after
    if step.key.kind not in WORKLOADS or step.operation != "update" or step.managed_fields is not None:
        return None
    if live is None or after is None:
        return None
    held = (_TEMPLATE, _STRATEGY) if step.released_pods or step.begins_drain else (_TEMPLATE,)
    record = held_text(step)
    metadata = {**with_text(after, record)["metadata"], "managedFields": live["metadata"].get("managedFields")}
    spec = {**after["spec"], **{name: live["spec"][name] for name in held if name in live["spec"]}}
    kept = {**after, "metadata": metadata, "spec": spec}
    if same_object(live, kept):
        return None
    manifest = with_text(step.manifest, record)
    return replace(step, manifest=_with_applied(held, manifest, live), after=kept, initial=None)


def _with_applied(held: Sequence[str], manifest: Manifest, live: Manifest) -> Manifest:
    """Return the manifest with those of the live fields that are ours: an apply of them changes nothing."""
    owned = owned_fields(live)
    ours = reduce(union, (below(owned, "f:spec", f"f:{name}") for name in held))
    applied = remove(live, difference(field_set(live), ours)).get("spec", {})
    spec = {name: value for name, value in manifest["spec"].items() if name not in held}
    return {**manifest, "spec": {**spec, **{name: applied[name] for name in held if applied.get(name)}}}
