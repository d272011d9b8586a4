# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The latest problem of the pods of a release, and whether its namespace is deleted."""

from __future__ import annotations

from typing import Any, cast

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reads import is_deleted_namespace, problem_of
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import FORBIDDEN, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads

SINCE = "2026-01-01T00:00:00Z"
EARLIER, NOW, LATER = "2025-12-31T23:59:59Z", "2026-01-01T00:00:01Z", "2026-01-01T00:00:02.123456Z"


def event(name: str, reason: str, kind: str = "Pod", **times: Any) -> dict[str, Any]:
    about = {"kind": kind, "name": name}
    return {"metadata": {}, "involvedObject": about, "reason": reason, "message": f"{reason}\nof it", **times}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([], ""),
        ([event("telemetry-a", "Old", lastTimestamp=EARLIER)], ""),
        ([event("telemetry2-a", "OfOthers", lastTimestamp=NOW)], ""),
        ([event("telemetry", "OfHelm", kind="Secret", lastTimestamp=NOW)], ""),
        (
            [
                event("telemetry-b", "FailedScheduling", lastTimestamp=None, eventTime=LATER),
                event("telemetry-a", "BackOff", lastTimestamp=NOW),
            ],
            "Pod telemetry-b: FailedScheduling: FailedScheduling of it",
        ),
        (
            [event("telemetry-5f", "FailedCreate", kind="ReplicaSet", lastTimestamp=NOW)],
            "ReplicaSet telemetry-5f: FailedCreate: FailedCreate of it",
        ),
    ],
)
def test_latest_problem(events: list[dict[str, Any]], expected: str) -> None:
    assert problem_of(events, "telemetry", SINCE) == expected


class NoPermission:
    """An API server that permits to read the namespace only."""

    def __init__(self, namespace: Manifest | None) -> None:
        self.namespace = namespace

    def create(self, _manifest: Manifest, dry_run: bool = False) -> Manifest:
        raise ApiError("create", "configmaps", "ConfigMap", None, None, FORBIDDEN, {})

    def get(self, _kind: str, _namespace: str | None, _name: str) -> Manifest | None:
        return self.namespace


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (None, True),
        ({"name": "tenant", "deletionTimestamp": "2026-01-01T00:00:00Z"}, True),
        ({"name": "tenant"}, False),
    ],
)
def test_namespace_that_goes(metadata: dict[str, Any] | None, expected: bool) -> None:
    api = NoPermission(None if metadata is None else {"metadata": metadata})
    assert is_deleted_namespace(Reads(cast(KubernetesApi, api), "ns"), "tenant") is expected
