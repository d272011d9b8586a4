# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Delete an orphaned PVC, if nothing uses it and the resource is unchanged.

All of that is read again immediately before each deletion, since the plan was made earlier: the deletion of many PVCs
takes long, and a user may stop it with each field of the resource.
"""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.outdated_resource import is_current
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.claim_users import KINDS, Users
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Orphan, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest


class StillUsed(KubernetesError):
    """The PVC is used again, or may be."""


def delete_orphan(api: KubernetesApi, step: Step, orphan: Orphan) -> None:
    """Delete the PVC in the version that was read; StillUsed if it is used again, or may be."""
    (kind, name), metadata = step.key, step.manifest["metadata"]
    namespace = metadata["namespace"]
    usage = Users(*(tuple(api.list_objects(each, namespace)) for each in KINDS)).usage(name, orphan)
    if usage is not None:
        raise StillUsed(f"{step.key} is not deleted: {usage}.")
    _require_current(api, step, orphan.resource)
    api.delete(kind, namespace, name, metadata["uid"], resource_version=metadata["resourceVersion"])


def _require_current(api: KubernetesApi, step: Step, resource: Manifest | None) -> None:
    """StillUsed if the resource was changed, paused or deleted: the groups may need the PVC again."""
    if resource is None:
        return
    kind, metadata = resource["kind"], resource["metadata"]
    name = metadata["name"]
    if not is_current(resource, api.get(kind, metadata["namespace"], name)):
        raise StillUsed(f"{step.key} is not deleted: {kind} {name} was modified concurrently.")
