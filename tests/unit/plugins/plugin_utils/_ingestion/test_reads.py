# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The reads of a reconcile in addition to the resource itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import urllib3
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reads import observe
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache import CachedApi, SomethingToDo
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads
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


@contextmanager
def observing() -> Iterator[tuple[Server, KubernetesApi]]:
    with serving() as server, urllib3.PoolManager() as pool:
        yield server, KubernetesApi(server.url, pool)


def test_unreadable_resource_does_not_block_others() -> None:
    with observing() as (server, api):
        server.responses = [MISSING, *UNCACHED]
        assert [each.name for each in observe(Reads(api, "ns"), ingestion(druidCluster=None), ()).siblings] == ["good"]
        assert [request.path for request in server.requests if "=Table" in request.headers["accept"][0]] == [
            "/apis/druid.apache.org/v1alpha1/namespaces/ns/druidingestions?includeObject=None"
        ]


def test_cache_does_not_decide_if_a_resource_is_unreadable() -> None:
    """It does not support tables."""
    with observing() as (server, api):
        server.responses = [MISSING, TOO_DEEP]
        cached = CachedApi.of(api, connect=lambda: api, owner="DruidIngestion")
        with pytest.raises(SomethingToDo):
            observe(Reads(cached, "ns"), ingestion(druidCluster=None), ())
