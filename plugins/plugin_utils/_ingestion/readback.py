# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read back Druid's state after changes, and detect normalization."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.act import act
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.datasource_config import datasource_changes
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.druid_state import DruidState, SupervisorState
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.normalization import (
    Normalized,
    find_normalized,
    read_normalized,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe_druid import fetch_state
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import Converge, SaveLastApplied
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi


def read_back(api: KubernetesApi, client: DruidClient, done: Reconciled, record: LastApplied) -> Reconciled:
    """Return the reconcile with Druid's current state, and save what Druid normalized: see ``normalization``."""
    ingestion = Ingestion.from_resource(done.resource)
    applied = [step.what for step in done.plan.steps if isinstance(step, Converge)]
    try:
        druid_state = fetch_state(client, ingestion, record, {})
        current = _current(client, ingestion, record, druid_state) if applied else iter(())
        news = find_normalized(applied, current)
    except DruidError:
        # the next reconcile detects it, and applies the spec once more
        return done
    done = replace(done, druid_state=druid_state)
    if not news:
        return done
    return _save_normalized(api, done, record, {**read_normalized(done.observed.record, ingestion), **news})


def _current(
    client: DruidClient, ingestion: Ingestion, record: LastApplied, druid_state: DruidState
) -> Iterator[Converge]:
    if isinstance(druid_state, SupervisorState):
        yield Converge(f"supervisor {druid_state.id}", druid_state.resource, druid_state.change)
    yield from datasource_changes(client, ingestion, record)


def _save_normalized(api: KubernetesApi, done: Reconciled, record: LastApplied, news: Normalized) -> Reconciled:
    acted = act(api, None, done.resource, (SaveLastApplied(record, normalized=news),))
    plan = acted.plan(done.plan)
    return replace(done, plan=replace(plan, steps=(*done.plan.steps, *plan.steps)), failed_step=acted.failed)
