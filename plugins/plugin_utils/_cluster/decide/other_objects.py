# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the LISTs of objects with the label of the cluster do not contain, but a decision depends on."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import CLAIM
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import (
    dry_runs_of_recreations,
    unlisted_objects,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout.missing_pods import (
    events_of_missing_pods,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours


def with_other_objects(inputs: Inputs) -> Inputs:
    """Return the inputs with the objects that only a name or another LIST finds, if there may be some."""
    # A desired object without our label exists.
    inputs = replace(inputs, unlisted=unlisted_objects(inputs))
    unlisted = tuple(live for live in inputs.unlisted.values() if is_ours(live, inputs.cluster))
    inputs = replace(inputs, others=unlisted)
    # Admission may be the only reason for a recreation.
    inputs = replace(inputs, recreations=dry_runs_of_recreations(inputs))
    # Only the events of a StatefulSet or PVC explain why a pod does not exist.
    return replace(inputs, others=(*unlisted, *events_of_missing_pods(inputs)))


def with_all_claims(inputs: Inputs) -> Inputs:
    """Return the inputs with all PVCs of the namespace: controllers find them whatever their labels."""
    return replace(inputs, claims=inputs.reads.list_objects(CLAIM))
