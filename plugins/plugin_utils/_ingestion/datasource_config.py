# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compaction and retention rules of the datasource."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import Resource, converge
from ansible_collections.druidops.druid.plugins.module_utils._resources.compaction import Compaction
from ansible_collections.druidops.druid.plugins.module_utils._resources.retention_rules import RetentionRules
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import DatasourceConfigChange
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.supervisor import with_removed_fields


def datasource_changes(
    client: DruidClient, ingestion: Ingestion, record: LastApplied
) -> tuple[DatasourceConfigChange, ...]:
    """Return the changes of the specified configuration, and the removal of the previously specified one."""
    found = (*_compaction(client, ingestion, record), *_rules(client, ingestion, record))
    return tuple(
        DatasourceConfigChange(what, resource, converge(resource, check_mode=True)) for what, resource in found
    )


def _compaction(client: DruidClient, ingestion: Ingestion, record: LastApplied) -> Iterator[tuple[str, Resource]]:
    now, before = datasource_of(ingestion.document), _former(record)
    specified, last = ingestion.compaction, record.specified.get("compaction")
    if specified is not None and now:
        desired = with_removed_fields(last, specified) if now == before else specified
        yield f"compaction of {now}", Compaction(client, now, {**desired, "dataSource": now})
    if last is not None and before and not (specified is not None and now == before):
        yield f"compaction of {before}", Compaction(client, before, None)


def _rules(client: DruidClient, ingestion: Ingestion, record: LastApplied) -> Iterator[tuple[str, Resource]]:
    now, before = datasource_of(ingestion.document), _former(record)
    if ingestion.rules and now:
        yield f"retention rules of {now}", RetentionRules(client, now, ingestion.rules)
    if record.specified.get("rules") and before and not (ingestion.rules and now == before):
        # without its own rules, the default rules apply
        yield f"retention rules of {before}", RetentionRules(client, before, [])


def _former(record: LastApplied) -> str | None:
    """Return the datasource of the last applied spec."""
    return datasource_of(record.specified.get("spec") or {})
