# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The reads of a reconcile in addition to the resource itself."""

from __future__ import annotations

import pytest
import urllib3
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe import observe
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache_first import try_cache_first
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import ingestion, resource
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import Response, Server, serving

TOO_DEEP = Response(body='{"items":' + "[" * 200_000 + "]" * 200_000 + "}")
MISSING = Response(404, {"message": "not found", "details": {"name": "gone"}})
NAMES = ("i", "deep", "gone", "good")
TABLE = Response(
    body={
        "columnDefinitions": [{"name": "Name", "format": "name"}],
        "rows": [{"cells": [name]} for name in NAMES],
    }
)
UNCACHED = (TOO_DEEP, TABLE, Response(body=resource()), TOO_DEEP, MISSING, Response(body=resource(name="good")))


def siblings(server: Server, is_operator: bool) -> list[str]:
    """Return the names of the other resources that a reconcile reads."""
    own = ingestion(druidCluster=None)
    with urllib3.PoolManager() as pool:
        api = KubernetesApi(server.url, pool)

        def attempt(api: KubernetesApi) -> list[str]:
            return [each.name for each in observe(api, own, ()).siblings]

        errors: list[KubernetesError] = []
        return try_cache_first(api, lambda: api, attempt, errors.append) if is_operator else attempt(api)


@pytest.mark.parametrize("is_operator", [False, True])
def test_unreadable_resource_does_not_block_others(is_operator: bool) -> None:
    """The operator reads from the cache first, which does not support tables."""
    with serving() as server:
        server.responses = [*([MISSING, TOO_DEEP] if is_operator else []), MISSING, *UNCACHED]
        assert siblings(server, is_operator) == ["good"]
        assert [request.path for request in server.requests if "=Table" in request.headers["accept"][0]] == [
            "/apis/druid.apache.org/v1alpha1/namespaces/ns/druidingestions?includeObject=None"
        ]
