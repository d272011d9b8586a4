# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PVCs that are older than the cluster: they were kept when an earlier one of the same name was deleted. Pure."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest


def exists_since(inputs: Inputs) -> str | None:
    """Return when the cluster was created: without a resource, its oldest object shows it. None if it has none."""
    objects = inputs.live.of_kind("StatefulSet", "ConfigMap")
    times = filter(None, (_created(live) for live in objects if is_ours(live, inputs.cluster)))
    return _created(inputs.resource) or min(times, default=None)


def is_older(claim: Manifest, since: str | None) -> bool:
    """True for a PVC that is older than the cluster, or may be."""
    return since is None or _created(claim) < since


def _created(live: Manifest) -> str:
    return str(live["metadata"].get("creationTimestamp") or "")
