# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Delete an orphaned PVC, if nothing uses it: read again immediately before, since the plan was made earlier."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.claim_users import KINDS, Users
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Orphan, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError


class StillUsed(KubernetesError):
    """The PVC is used again."""


def delete_orphan(api: KubernetesApi, step: Step, orphan: Orphan) -> None:
    """Delete the PVC in the version that was read; StillUsed if it is used again."""
    (kind, name), metadata = step.key, step.manifest["metadata"]
    namespace = metadata["namespace"]
    usage = Users(*(tuple(api.list_objects(each, namespace)) for each in KINDS)).usage(name, orphan)
    if usage is not None:
        raise StillUsed(f"{step.key} is not deleted: {usage}.")
    api.delete(kind, namespace, name, metadata["uid"], resource_version=metadata["resourceVersion"])
