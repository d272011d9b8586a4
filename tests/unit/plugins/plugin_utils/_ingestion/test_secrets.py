# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reports about a resource contain no secrets, regardless of how deeply the JSON in its strings is nested."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._secrets.secret import MASK
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import IngestionResult, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import nested, resource

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = "hunter2-of-mine"
HEADERS: dict[str, Any] = {"requestHeaders": {"X-Anything": SECRET}}


class NoTransport:
    """A transport that fails for each request."""

    def request(self, method: str, url: str, **_arguments: Any) -> Any:
        raise AssertionError((method, url))


def resource_with(**ingestion: Any) -> dict[str, Any]:
    """Return a resource defined by variables; the arguments are merged into spec.ingestion."""
    manifest = resource(ingestion=ingestion)
    del manifest["metadata"]["uid"]
    return manifest


@pytest.mark.parametrize("levels", [98, 330, 450, 900, 5000])
@pytest.mark.parametrize("place", ["spec", "nativeSpec", "annotation"])
def test_deeply_nested_json_in_a_string(place: str, levels: int) -> None:
    text = nested(levels)
    manifest = resource_with(
        spec=text if place == "spec" else None,
        nativeSpec={**HEADERS, "context": {"a": text} if place == "nativeSpec" else {}},
    )
    manifest["metadata"]["annotations"] = {"a": text} if place == "annotation" else {}
    finding = Finding("RejectedByDruid", f"Invalid value: {SECRET!r}")
    result = IngestionResult(manifest, Plan((), (finding,)), Ingestion.from_resource(manifest))
    reported = INGESTION.report(KubernetesApi("https://192.0.2.1", NoTransport()), result, False, NOW)
    assert reported.problems == (Finding("RejectedByDruid", f"Invalid value: '{MASK}'"),)


@pytest.mark.parametrize("levels", [330, 450, 900, 5000])
def test_deeply_nested_supervisor_spec_in_a_string(levels: int) -> None:
    manifest = resource_with(spec=nested(levels), nativeSpec=None)
    finding = Finding("InvalidSpec", "spec.ingestion.spec is nested too deeply.")
    result = IngestionResult(manifest, Plan((), (finding,)), Ingestion.from_resource(manifest))
    assert INGESTION.report(KubernetesApi("https://192.0.2.1", NoTransport()), result, False, NOW).problems == (
        finding,
    )
