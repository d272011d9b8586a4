# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A status is written only for the reconciled generation: a later generation takes precedence."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import write_status
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import Response, Server

RESOURCE: dict[str, Any] = {
    "kind": "Druid",
    "metadata": {"name": "c", "namespace": "ns", "uid": "u-1", "generation": 7, "resourceVersion": "9"},
}
# The response of the API server if a test operation of a JSON patch fails.
FAILED_TEST = Response(
    422,
    {"message": "the server rejected our request due to an error in our request", "details": {"name": "c"}},
)


def test_status_has_the_resource_and_generation_as_precondition(server: Server, api: KubernetesApi) -> None:
    write_status(api, RESOURCE, {"reason": "x"})
    [request] = server.requests
    assert request.document == [
        {"op": "test", "path": "/metadata/uid", "value": "u-1"},
        {"op": "test", "path": "/metadata/generation", "value": 7},
        {"op": "add", "path": "/status", "value": {"reason": "x"}},
    ]


def test_later_generation_is_not_an_error(server: Server, api: KubernetesApi) -> None:
    server.responses = [FAILED_TEST]
    write_status(api, RESOURCE, {})
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [403, 404, 500])
def test_other_rejections_are_errors(server: Server, api: KubernetesApi, status: int) -> None:
    server.responses = [Response(status, {"message": "no", "details": {"name": "c"}})]
    with pytest.raises(ApiError):
        write_status(api, RESOURCE, {})
