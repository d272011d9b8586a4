# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""DruidIngestion resources and changes of objects in Druid, for tests."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import (
    RETENTION_RULES,
    SUPERVISOR,
    DruidChange,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reads import IngestionReads
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record_check import Note, digest_of, text_of
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import (
    FINALIZER,
    NOTE_ANNOTATION,
    Ingestion,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import DruidState, Inputs, Observed

KAFKA: dict[str, Any] = {
    "type": "kafka",
    "spec": {"dataSchema": {"dataSource": "pages"}, "ioConfig": {"topic": "pages", "taskCount": 2}},
}
BATCH: dict[str, Any] = {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "pages"}}}


def resource(kind: str = "kafka", document: Any = None, *, name: str = "i", **more: Any) -> dict[str, Any]:
    """Return a resource; `more` is merged into its spec, and `ingestion` into spec.ingestion."""
    section = {"type": kind, "nativeSpec": KAFKA if document is None else document, **more.pop("ingestion", {})}
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}", "generation": 3, "finalizers": [FINALIZER]}
    metadata |= more.pop("metadata", {})
    return {
        "apiVersion": "druid.apache.org/v1alpha1",
        "kind": "DruidIngestion",
        "metadata": metadata,
        "spec": {"druidCluster": "c", "ingestion": section, **more},
    }


def noting(
    config_map: dict[str, Any] | None, *ids: str, replaces: str = "", name: str = "i", revision: int = 0
) -> dict[str, Any]:
    """Return metadata of the resource that believes this record, and has submitted these ids."""
    record = "" if config_map is None else digest_of(config_map)
    return {"annotations": {NOTE_ANNOTATION: text_of(Note(frozenset(ids), record, replaces, revision), f"uid-{name}")}}


def ingestion(kind: str = "kafka", document: Any = None, **more: Any) -> Ingestion:
    """Return a parsed resource; the arguments are those of `resource`."""
    return Ingestion.from_resource(resource(kind, document, **more))


def supervisor_change(before: Any, after: Any, supervisor: str = "pages") -> DruidChange:
    """Return a change of a supervisor."""
    return DruidChange(SUPERVISOR, supervisor, f"supervisor {supervisor}", None, before, after)


def rules_change(before: Any, after: Any, datasource: str = "pages") -> DruidChange:
    """Return a change of the retention rules of a datasource."""
    return DruidChange(RETENTION_RULES, datasource, f"retention rules of {datasource}", None, before, after)


def reading(client: Any) -> IngestionReads:
    """Return a reader that asks this client of Druid, and nothing in Kubernetes."""
    reads = IngestionReads(None, ingestion(), Options(), ExitStack())  # type: ignore[arg-type]
    reads.client = client
    return reads


def known(
    parsed: Ingestion,
    record: LastApplied,
    state: DruidState,
    datasource: tuple[DruidChange, ...] = (),
    *,
    has_config_map: bool = False,
    siblings: tuple[Ingestion, ...] = (),
    **more: Any,
) -> Inputs:
    """Return inputs of a decision for which everything was read before; `more` are others of their properties."""
    observed = Observed(config_map={"kind": "ConfigMap"} if has_config_map else None, siblings=siblings)
    found = Inputs(parsed, observed, None)  # type: ignore[arg-type]
    defaults = {"is_recorded": False, "older_owner": None, "left": (), "unconfirmed": ()}
    vars(found).update({**defaults, "record": record, "druid_state": state, "datasource": datasource, **more})
    return found


def nested(levels: int) -> str:
    """Return JSON with this number of nested mappings."""
    return '{"a":' * levels + "1" + "}" * levels
