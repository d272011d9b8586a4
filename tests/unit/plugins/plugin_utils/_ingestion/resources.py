# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""DruidIngestion resources and changes of objects in Druid, for tests."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import (
    RETENTION_RULES,
    SUPERVISOR,
    DruidChange,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import NOTE_ANNOTATION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, to_config_map
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reads import IngestionReads
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record_check import (
    Note,
    believed,
    digest_of,
    text_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import (
    FINALIZER,
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


def asking(client: Any) -> IngestionReads:
    """Return a reader that asks this client of Druid, and nothing in Kubernetes."""
    return IngestionReads(None, "ns", lambda _reads: Observed(), lambda: client)  # type: ignore[arg-type]


class Answers(IngestionReads):
    """What is read, as a table: `found` in Kubernetes, and what Druid answers; an error is raised.

    `state` is that of the supervisor or task, `datasource` its configuration, `tasks` their status by id, `supervisors`
    those in Druid. `is_deleted`: the namespace is. A read without an answer fails the test.
    """

    def __init__(
        self,
        found: Observed | None = None,
        state: DruidState | None = None,
        datasource: tuple[DruidChange, ...] = (),
        tasks: Mapping[str, Mapping[str, Any] | None] | None = None,
        supervisors: Collection[str] = (),
        error: DruidError | None = None,
        is_deleted: bool | None = None,
    ) -> None:
        self.found, self.druid_state, self.configuration = found, state, datasource
        self.tasks, self.supervisors, self.error, self.is_deleted = tasks or {}, supervisors, error, is_deleted
        self.observed = Observed()

    def observe(self) -> Observed:
        assert self.found is not None
        self.observed = self.found
        return self.found

    def connect(self) -> None:
        if self.error is not None:
            raise self.error

    def state(self, _ingestion: Ingestion, _record: LastApplied) -> DruidState:
        assert self.druid_state is not None
        return self.druid_state

    def datasource(self, *_about: Any) -> tuple[DruidChange, ...]:
        return self.configuration

    def task_status(self, task: str) -> Mapping[str, Any] | None:
        return self.tasks[task]

    def has_supervisor(self, supervisor: str) -> bool:
        return supervisor in self.supervisors

    def has_own_ids(self, *_about: Any) -> bool:
        return True

    def is_namespace_terminating(self, _namespace: str | None = None) -> bool:
        assert self.is_deleted is not None
        return self.is_deleted


def recorded(parsed: Ingestion, record: LastApplied, **more: Any) -> tuple[Ingestion, Observed]:
    """Return the ingestion, which confirms this record, and its ConfigMap, with `more` of what is observed."""
    if record == LastApplied():
        return parsed, Observed(**more)
    config_map = to_config_map(record, parsed)
    ids = (*record.supervisors, *record.tasks)
    noted = noting(config_map, *ids, name=parsed.name, revision=record.revision)["annotations"]
    confirming = replace(parsed, annotations={**parsed.annotations, **noted})
    return confirming, Observed(config_map=config_map, record=believed(config_map, confirming), **more)


def inputs_of(
    parsed: Ingestion,
    record: LastApplied,
    state: DruidState,
    datasource: tuple[DruidChange, ...] = (),
    siblings: tuple[Ingestion, ...] = (),
) -> Inputs:
    """Return the inputs of a decision about an ingestion with this record, and this state in Druid."""
    confirming, observed = recorded(parsed, record, siblings=siblings)
    return Inputs(confirming, observed, Answers(observed, state, datasource))


def nested(levels: int) -> str:
    """Return JSON with this number of nested mappings."""
    return '{"a":' * levels + "1" + "}" * levels
