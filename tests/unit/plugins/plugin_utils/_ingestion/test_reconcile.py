# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stored resource that violates the schema is reported as invalid, and a failure is reported if a read fails, too."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, to_config_map
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import connect
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    ingestion,
    noting,
    resource,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.memory_api import MemoryApi

# (stored spec, reported field)
STORED: list[tuple[Any, str]] = [
    (5, "spec: "),
    ("text", "spec: "),
    (["text"], "spec: "),
    ({}, "spec.ingestion: Required value"),
    *(
        ({**resource()["spec"], part: value}, f"spec.{part}: ")
        for part in ("auth", "endpoint", "ingestion")
        for value in (5, "text", ["text"])
    ),
    ({**resource()["spec"], "auth": {"secretRef": "text", "type": "basic-auth"}}, "spec.auth.secretRef: "),
    ({**resource()["spec"], "endpoint": {"caSecretRef": "text"}}, "spec.endpoint.caSecretRef: "),
    ({**resource()["spec"], "ingestion": {"type": "kafka", "spec": 5}}, "spec.ingestion.spec: "),
    ({**resource()["spec"], "ingestion": {"type": "kafka", "nativeSpec": "text"}}, "spec.ingestion.nativeSpec: "),
]


@pytest.mark.parametrize(("stored", "field"), STORED, ids=repr)
def test_invalid_field_is_reported(stored: Any, field: str) -> None:
    # no server listens there: the test fails if a request is sent
    unreachable = connect({"host": "https://127.0.0.1:1", "api_key": "none"})
    report = INGESTION.reconcile(
        unreachable, {**resource(), "spec": stored}, Options(check_mode=True), datetime.now(UTC)
    )
    assert {problem.reason for problem in report.problems} == {"InvalidSpec"}
    assert any(problem.message.startswith(field) for problem in report.problems)


class Unreadable(MemoryApi):
    """An API server that does not answer whether the namespace is being deleted."""

    def create(self, manifest: Manifest, *_arguments: Any, **_named: Any) -> Manifest:
        raise self._error("POST", manifest["kind"], "ns", "", 500, "no leader")


def test_a_read_that_fails_after_a_failed_step_keeps_its_result() -> None:
    # no server listens there
    spec = {"druidCluster": None, "endpoint": {"url": "http://127.0.0.1:1"}}
    record = LastApplied(ingestion(**spec).specified, "pages", druid=ingestion(**spec).target)
    config_map = to_config_map(record, ingestion(**spec))
    terminating = {"deletionTimestamp": "2026-01-01T00:00:00Z", **noting(config_map, "pages")}
    api = Unreadable(objects={("ConfigMap", "i-ingestion"): config_map})
    options = Options(timeouts=Timeouts(retry_timeout=0))
    result = INGESTION.reconcile_once(api, resource(**spec, metadata=terminating), options, datetime.now(UTC))
    assert [each.reason for each in result.plan.problems] == [reasons.DRUID_UNREACHABLE]
