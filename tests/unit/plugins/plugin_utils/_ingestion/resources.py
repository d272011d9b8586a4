# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""DruidIngestion resources for tests, and a thing in Druid that nothing is to be written to."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion

KAFKA: dict[str, Any] = {
    "type": "kafka",
    "spec": {"dataSchema": {"dataSource": "pages"}, "ioConfig": {"topic": "pages", "taskCount": 2}},
}
BATCH: dict[str, Any] = {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "pages"}}}


def resource(kind: str = "kafka", document: Any = None, *, name: str = "i", **more: Any) -> dict[str, Any]:
    """Return a resource; what is in `more` goes into its spec, `ingestion` beside the specification."""
    given = {"type": kind, "nativeSpec": KAFKA if document is None else document, **more.pop("ingestion", {})}
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}", "generation": 3, **more.pop("metadata", {})}
    return {
        "apiVersion": "druid.apache.org/v1alpha1",
        "kind": "DruidIngestion",
        "metadata": metadata,
        "spec": {"druidCluster": "c", "ingestion": given, **more},
    }


def ingestion(kind: str = "kafka", document: Any = None, **more: Any) -> Ingestion:
    """Return what such a resource describes."""
    return Ingestion.from_resource(resource(kind, document, **more))


def nested(levels: int) -> str:
    """Return JSON of so many mappings in each other."""
    return '{"a":' * levels + "1" + "}" * levels


class Nothing:
    """What would be written is not the point here."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def read(self) -> Any:
        return None

    def merge(self, before: Any) -> Any:
        return before

    def write(self, before: Any, after: Any) -> Any:
        raise AssertionError(before, after)

    def compare(self, after: Any, now: Any) -> None:
        raise AssertionError(after, now)
