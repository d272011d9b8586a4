# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stored resource that violates the schema is reported as invalid. What was done is reported, whatever fails."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, to_config_map
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import connect
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    BATCH,
    ingestion,
    noting,
    resource,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.memory_api import MemoryApi
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import BROKEN, Response, serving

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


def test_a_deletion_that_reads_nothing_is_reported() -> None:
    live = resource(deletionPolicy="Retain", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    report = INGESTION.reconcile(MemoryApi(), live, Options(check_mode=True), datetime.now(UTC))
    assert report.plan.titles == ["remove the finalizer"]


NOT_FOUND = Response(404, "Cannot find any task with id: [t]")


def test_what_was_terminated_before_druid_failed_is_reported_with_the_deletion_without_it() -> None:
    record = LastApplied(ingestion().specified, "pages", druid=ingestion().target, former=("old",))
    config_map, deletion = to_config_map(record, ingestion()), {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    live = resource(metadata={"resourceVersion": "1", **deletion, **noting(config_map, "pages", "old")})
    cluster = {"metadata": {"name": "c", "namespace": "ns", **deletion}}
    objects = {("ConfigMap", "i-ingestion"): config_map, ("DruidIngestion", "i"): live, ("Druid", "c"): cluster}
    with serving() as druid:
        # the status three times, the termination and the list of supervisors; then the list of tasks has no response
        druid.responses = [*[NOT_FOUND] * 3, Response(body={"id": "old"}), Response(body=[]), BROKEN]
        options = Options(url=druid.url, timeouts=Timeouts(retry_timeout=0))
        result = INGESTION.reconcile_once(MemoryApi(objects=objects), live, options, datetime.now(UTC))
    assert result.is_deleted
    assert result.plan.titles == ["terminate supervisor old", "remove the finalizer"]
    of_tasks, of_rest = result.plan.warnings
    assert of_tasks.startswith("Cannot check whether tasks of supervisor old still run")
    assert of_rest.endswith("The cluster is also being deleted: pages was not terminated and may still run.")


def test_a_submission_is_reported_if_druid_does_not_respond_after_it() -> None:
    with serving() as druid:
        endpoint = {"url": druid.url}
        live = resource("native-batch", BATCH, druidCluster=None, endpoint=endpoint, metadata={"resourceVersion": "1"})
        running = Response(body={"status": {"id": "t", "statusCode": "RUNNING"}})
        # it does not exist, is submitted, and runs; then its specification cannot be read
        druid.responses = [NOT_FOUND, Response(body={"task": "t"}), running, BROKEN]
        options = Options(timeouts=Timeouts(retry_timeout=0), is_strict=True)
        api = MemoryApi(objects={("DruidIngestion", "i"): live})
        result = INGESTION.reconcile_once(api, live, options, datetime.now(UTC))
        assert [request.method for request in druid.requests] == ["GET", "POST", "GET", "GET"]
    assert any(title.startswith("submit task") for title in result.plan.titles)
    assert result.written is not None
    assert not result.plan.problems
