# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The permissions of requests. tests/system/modules/test_permissions.py shows them on a real Druid."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.permissions import required

KAFKA = {"type": "kafka", "spec": {"dataSchema": {"dataSource": "a"}}}
KILL = {"type": "kill", "dataSource": "a"}
INDEXER, COORDINATOR = "/druid/indexer/v1", "/druid/coordinator/v1"

CASES: list[tuple[str, str, Any, str]] = [
    ("GET", f"{INDEXER}/supervisor/a", None, "READ on DATASOURCE, that of supervisor a"),
    ("POST", f"{INDEXER}/supervisor/a%2Fb/suspend", None, "WRITE on DATASOURCE, that of supervisor a/b"),
    ("POST", f"{INDEXER}/supervisor", KAFKA, "WRITE on DATASOURCE a"),
    ("POST", f"{INDEXER}/supervisor", {"dataSources": ["a", "b"]}, "WRITE on DATASOURCE a, b"),
    ("POST", f"{INDEXER}/supervisor", {"type": "autocompact", "spec": {"dataSource": "a"}}, "WRITE on DATASOURCE a"),
    ("POST", f"{INDEXER}/supervisor", None, "WRITE on DATASOURCE of the spec"),
    ("POST", f"{INDEXER}/task", KILL, "WRITE on DATASOURCE a"),
    ("GET", f"{INDEXER}/task/x/status", None, "READ on DATASOURCE, that of task x"),
    ("POST", f"{INDEXER}/worker", {}, "WRITE on CONFIG CONFIG"),
    ("POST", f"{INDEXER}/worker/m:8091/disable", None, "WRITE on STATE STATE"),
    ("GET", f"{INDEXER}/worker/history", None, "READ on CONFIG CONFIG"),
    ("GET", f"{COORDINATOR}/loadqueue", None, "READ on STATE STATE"),
    ("POST", f"{INDEXER}/k8s/taskrunner/executionconfig", {}, "WRITE on CONFIG CONFIG"),
    ("POST", f"{INDEXER}/compaction/config/datasources/a", {}, "WRITE on DATASOURCE a"),
    ("POST", f"{INDEXER}/compaction/config/cluster", {}, "WRITE on CONFIG CONFIG"),
    ("DELETE", f"{INDEXER}/datasources/a", None, "WRITE on DATASOURCE a"),
    ("GET", f"{INDEXER}/workers", None, "READ on STATE STATE"),
    ("GET", f"{COORDINATOR}/servers", None, "READ on STATE STATE"),
    ("GET", f"{COORDINATOR}/metadata/datasources/a/unusedSegments", None, "READ on DATASOURCE a"),
    ("POST", f"{COORDINATOR}/config", {}, "WRITE on CONFIG CONFIG"),
    ("DELETE", f"{COORDINATOR}/config/compaction/a", None, "WRITE on CONFIG CONFIG"),
    ("GET", f"{COORDINATOR}/compaction/status", None, "READ on STATE STATE"),
    ("GET", f"{COORDINATOR}/lookups/config", None, "READ on CONFIG CONFIG"),
    ("POST", f"{COORDINATOR}/rules/a", [], "WRITE on DATASOURCE a"),
    ("GET", f"{COORDINATOR}/rules/{{name}}", None, "READ on DATASOURCE {name}"),
    ("GET", f"{COORDINATOR}/rules", None, "READ on STATE STATE"),
    ("DELETE", "/druid-ext/basic-security/authorization/db/a/users/b", None, "WRITE on CONFIG security"),
    ("GET", "/status", None, "READ on STATE STATE"),
]
TABLES = "READ on DATASOURCE of each table that it reads"
STATEMENTS: list[tuple[str, list[str]]] = [
    ("INSERT INTO a SELECT * FROM b", ["WRITE on DATASOURCE a", TABLES]),
    ('replace\n  into "a-b" OVERWRITE ALL SELECT', ["WRITE on DATASOURCE a-b", TABLES]),
    (
        "INSERT INTO a SELECT * FROM TABLE(EXTERN('', ''))",
        ["WRITE on DATASOURCE a", "READ on EXTERNAL EXTERNAL", TABLES],
    ),
    (
        "INSERT INTO EXTERN(local()) AS CSV SELECT * FROM b",
        ["WRITE on the target", "READ on EXTERNAL EXTERNAL", TABLES],
    ),
]


@pytest.mark.parametrize(("method", "path", "document", "permission"), CASES)
def test_permission_of_a_request(method: str, path: str, document: Any, permission: str) -> None:
    assert required(method, path, document) == [permission]


@pytest.mark.parametrize(("query", "permissions"), STATEMENTS)
def test_permissions_of_a_statement(query: str, permissions: list[str]) -> None:
    assert required("POST", "/druid/v2/sql/task", {"query": query}) == permissions


def test_permissions_of_a_query() -> None:
    assert required("POST", "/druid/v2/sql", {"query": "SELECT 1 FROM sys.segments, a"}) == [TABLES]
    assert required("POST", "/druid/v2/sql", {"query": 'SELECT 1 FROM "sys"."servers"'}) == ["READ on STATE STATE"]


def test_list_of_one_datasource() -> None:
    assert required("GET", f"{INDEXER}/tasks", None, "?datasource=a+b&max=5") == ["READ on DATASOURCE a b"]


def test_unknown_path() -> None:
    assert required("GET", "/statuses", None) == []
    assert required("GET", "/druid/v2/sql", None) == []
