# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Inputs of decisions, built without an API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.desired_state import desired_state
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.finalizer import deletes_claims
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding, spec_errors
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid


def inputs(cluster: Cluster, observed: Observed | None = None, **more: Any) -> Inputs:
    """Return the inputs of a decision about a cluster; its resource has the required finalizer."""
    live = observed or Observed()
    finalizers = [names.FINALIZER] if deletes_claims(cluster.spec) else []
    metadata = {"name": cluster.name, "namespace": cluster.namespace, "uid": cluster.uid, "finalizers": finalizers}
    resource = {**druid.resource(), "metadata": metadata, "spec": cluster.spec}
    defaults = {"resource": resource, "cluster": cluster, "observed": live, "desired": desired_state(cluster, live)}
    return Inputs(**{**defaults, **more})


def inputs_of(resource: dict[str, Any], **more: Any) -> Inputs:
    """Return the inputs of a decision about a resource that has no objects yet."""
    errors = spec_errors(names.KIND, resource)
    cluster = Cluster.from_resource({**resource, "spec": {}} if errors else resource)
    return inputs(cluster, resource=resource, schema_errors=errors, **more)


def draft(
    cluster: Cluster, observed: Observed | None = None, steps: Sequence[Step] = (), findings: Sequence[Finding] = ()
) -> Draft:
    """Return a draft with these candidates and findings."""
    return Draft(inputs(cluster, observed), tuple(steps), tuple(findings))
