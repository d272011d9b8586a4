# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""In an ignored namespace nothing is touched but the finalizer that ansible-operator has set on what is deleted."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.task import release_finalizer
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.memory_api import MemoryApi

DELETED = datetime(2026, 1, 1, tzinfo=UTC)
LATER = DELETED + timedelta(seconds=31)
OTHER = "example.com/other"
REQUEST = Request("c", "ns", Options())


def druid(*finalizers: str, manager: str = "ansible-operator", is_deleted: bool = True) -> Manifest:
    """Return a resource whose finalizers that field manager has set."""
    fields = {"f:metadata": {"f:finalizers": {".": {}, **{f'v:"{each}"': {} for each in finalizers}}}}
    metadata: dict[str, Any] = {
        "name": "c",
        "namespace": "ns",
        "uid": "u",
        "resourceVersion": "7",
        "finalizers": [*finalizers],
        "managedFields": [{"manager": manager, "operation": "Update", "fieldsV1": fields}],
    }
    if is_deleted:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {"apiVersion": names.API_VERSION, "kind": "Druid", "metadata": metadata}


def api_with(resource: Manifest) -> MemoryApi:
    return MemoryApi(objects={("Druid", "c"): resource})


def test_the_finalizer_of_ansible_operator_is_removed_from_what_is_being_deleted() -> None:
    api = api_with(druid(OTHER, names.FINALIZER))

    returned = release_finalizer(api, DRUID, REQUEST, LATER)

    assert returned["changed"]
    assert returned["plan"] == [f"remove finalizer {names.FINALIZER} of Druid c"]
    assert api.objects["Druid", "c"]["metadata"]["finalizers"] == [OTHER]
    [event] = api.of_kind("Event")
    assert (event["type"], event["reason"], event["involvedObject"]["name"]) == ("Normal", "FinalizerRemoved", "c")
    assert names.FINALIZER in event["message"]


def test_the_finalizer_is_removed_even_if_the_event_is_rejected() -> None:
    api = api_with(druid(names.FINALIZER))
    api.rejected["POST", "Event"] = "the namespace is being terminated"

    assert release_finalizer(api, DRUID, REQUEST, LATER)["changed"]

    assert api.writes == ["PATCH Druid"]


@pytest.mark.parametrize(
    "resource",
    [
        pytest.param(druid(names.FINALIZER, is_deleted=False), id="not being deleted"),
        pytest.param(druid(names.FINALIZER, manager="manager"), id="set by the Go operator"),
        pytest.param(druid(OTHER), id="another finalizer"),
    ],
)
def test_nothing_else_is_touched(resource: Manifest) -> None:
    api = api_with(resource)

    returned = release_finalizer(api, DRUID, REQUEST, LATER)

    assert returned["skipped"]
    # otherwise, ansible-operator would remove its finalizer
    assert returned["requeue_after"] == 300
    assert api.writes == []


def test_another_operator_has_time_to_finalize_it_first() -> None:
    api = api_with(druid(names.FINALIZER))

    returned = release_finalizer(api, DRUID, REQUEST, DELETED + timedelta(seconds=0.5))

    assert (returned["skipped"], returned["requeue_after"]) == (True, 30)
    assert api.writes == []


def test_in_check_mode_nothing_is_written() -> None:
    api = api_with(druid(names.FINALIZER))

    assert release_finalizer(api, DRUID, replace(REQUEST, options=Options(check_mode=True)), LATER)["changed"]

    assert api.writes == []


def test_deleted_resource_is_skipped() -> None:
    assert release_finalizer(MemoryApi(), DRUID, REQUEST, LATER)["skipped"]


def test_a_change_in_the_meantime_is_looked_at_again() -> None:
    api = api_with(druid(names.FINALIZER))
    api.rejected["PATCH", "Druid"] = "conflict"

    def conflict(*arguments: Any) -> ApiError:
        return ApiError("patch", "druids", "Druid", "ns", "c", 409, {"message": "modified", "details": {"name": "c"}})

    api._error = conflict  # type: ignore[method-assign]

    assert release_finalizer(api, DRUID, REQUEST, LATER)["requeue_after"] == 5
