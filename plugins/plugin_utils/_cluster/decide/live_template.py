# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The write of a workload whose pods must not restart yet: all of it but the pod template."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import same_object
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import owned_fields
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_set import (
    below,
    difference,
    field_set,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import remove
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest

_TEMPLATE = ("f:spec", "f:template")


def without_restart(step: Step) -> Step | None:
    """Return the step with the live pod template; None if nothing else changes.

    A recreated workload waits as a whole, and so does one whose field ownership has to be migrated.
    """
    live, after = step.live, step.after
    if step.key.kind not in WORKLOADS or step.operation != "update" or step.managed_fields is not None:
        return None
    if live is None or after is None:
        return None
    metadata = {**after["metadata"], "managedFields": live["metadata"].get("managedFields")}
    kept = {**after, "metadata": metadata, "spec": {**after["spec"], "template": live["spec"]["template"]}}
    if same_object(live, kept):
        return None
    return replace(step, manifest=_with_applied_template(step.manifest, live), after=kept, initial=None)


def _with_applied_template(manifest: Manifest, live: Manifest) -> Manifest:
    """Return the manifest with the fields of the live template that are ours: an apply of them changes nothing."""
    ours = below(owned_fields(live), *_TEMPLATE)
    template = remove(live, difference(field_set(live), ours)).get("spec", {}).get("template")
    spec = {name: value for name, value in manifest["spec"].items() if name != "template"}
    return {**manifest, "spec": {**spec, **({"template": template} if template else {})}}
