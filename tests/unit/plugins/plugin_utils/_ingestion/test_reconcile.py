# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stored resource that violates the schema is reported as invalid before any other field is used."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import connect
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import resource

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
