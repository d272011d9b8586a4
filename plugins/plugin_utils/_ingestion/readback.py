# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read back Druid's state after changes, and record what Druid normalized."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.normalization import Normalized, with_normalized
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.act import act
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.inputs import DruidState, SupervisorState
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    IN_RECORD,
    LastApplied,
    read_normalized,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe_druid import (
    fetch_datasource,
    fetch_state,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import SaveLastApplied
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi


def read_back(api: KubernetesApi, client: DruidClient, done: Reconciled, record: LastApplied) -> Reconciled:
    """Return the reconcile with Druid's current state; `record` is the last applied record before it."""
    record = next((saved for saved in reversed(done.plan.saved) if saved is not None), record)
    applied = tuple(step for step in done.plan.steps if isinstance(step, DruidChange))
    try:
        druid_state = fetch_state(client, done.ingestion, record, {})
        current = _current(client, done, record, druid_state) if applied else ()
    except DruidError:
        # the next reconcile detects it, and applies the spec once more
        return done
    done = replace(done, druid_state=druid_state)
    found = with_normalized({}, applied, current, IN_RECORD)
    if not found:
        return done
    known = read_normalized(done.observed.record, done.ingestion)
    return _save(api, done, record, with_normalized(known, applied, current, IN_RECORD))


def _current(
    client: DruidClient, done: Reconciled, record: LastApplied, druid_state: DruidState
) -> tuple[DruidChange, ...]:
    supervisor = (druid_state.change,) if isinstance(druid_state, SupervisorState) else ()
    return (*supervisor, *fetch_datasource(client, done.ingestion, record, {}))


def _save(api: KubernetesApi, done: Reconciled, record: LastApplied, normalized: Normalized) -> Reconciled:
    saving = (SaveLastApplied(record, normalized=normalized),)
    saved = act(api, None, replace(done, plan=replace(done.plan, steps=saving)))
    return replace(saved, plan=replace(saved.plan, steps=(*done.plan.steps, *saved.plan.steps)))
