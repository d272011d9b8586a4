# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One write of a step: its manifest with a precondition, the request, and the message of an error."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import deletes_scaled_pvcs
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    INITIAL_MANAGER,
    VERBATIM_MANAGER,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import FIELD_MANAGER, Manifest

# No object has this resourceVersion: an apply with it creates an object, and fails if there is one.
_MUST_NOT_EXIST = "1"


def send(api: KubernetesApi, step: Step, manifest: Manifest, dry_run: bool = False) -> Manifest:
    """Return the object after an apply of the manifest, or a create if it has duplicate keys."""
    if step.has_duplicate_keys:
        return api.create(manifest, dry_run, VERBATIM_MANAGER)
    return api.apply(manifest, dry_run, FIELD_MANAGER if step.initial is None else INITIAL_MANAGER)


def with_precondition(step: Step) -> Manifest:
    """Return the manifest with the precondition of the step: the uid of the live object, or that there is none."""
    if step.initial is not None and step.has_duplicate_keys:
        return step.initial
    if step.live is None or step.operation == "recreate":
        return _with_metadata(step.initial or step.manifest, resourceVersion=_MUST_NOT_EXIST)
    metadata = step.live["metadata"]
    if needs_same_version(step):
        return _with_metadata(step.manifest, uid=metadata["uid"], resourceVersion=metadata["resourceVersion"])
    return _with_metadata(step.manifest, uid=metadata["uid"])


def needs_same_version(step: Step) -> bool:
    """True when the PVCs of scaled pods are to be deleted from now on, and the step does not set the replicas.

    They may have been set to 0 since, to stop the group.
    """
    if step.key.kind != "StatefulSet" or step.live is None or "replicas" in step.manifest["spec"]:
        return False
    return deletes_scaled_pvcs(step.manifest) and not deletes_scaled_pvcs(step.live)


def _with_metadata(manifest: Manifest, **more: str) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], **more}}


def explain(step: Step, error: ApiError) -> str:
    """Return why nothing was written."""
    if not error.is_conflict:
        return str(error)
    return f"{step.key} was modified concurrently, so nothing was written to it. Retry. ({error.message})"
