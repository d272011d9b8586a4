# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The messages of errors, and their remedies."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http import error_hints
from ansible_collections.druidops.druid.plugins.module_utils._http.connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ApiError, ServerError, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import HIDDEN, DruidError, InvalidInput

NOBODY = Connection(("http://druid",))
ADMIN = Connection(("http://druid",), username="admin", password="hunter2")
BEARER = Connection(("http://druid",), token="hunter2")


@pytest.mark.parametrize(
    ("connection", "hint"),
    [
        (NOBODY, "Set the options username and password (DRUID_USERNAME, DRUID_PASSWORD), or token (DRUID_TOKEN)"),
        (ADMIN, "Check the options username and password (DRUID_USERNAME, DRUID_PASSWORD)"),
        (BEARER, "Druid does not accept the token. Check the option token (DRUID_TOKEN) and whether it has expired"),
    ],
)
def test_names_the_authentication_options(connection: Connection, hint: str) -> None:
    assert error_hints.of_unauthorized(connection) == hint


@pytest.mark.parametrize(
    ("method", "path", "right"),
    [
        ("GET", "/druid/indexer/v1/supervisor", "READ on DATASOURCE of that supervisor, or WRITE before Druid 38"),
        ("GET", "/druid/indexer/v1/supervisor/a", "READ on DATASOURCE of that supervisor"),
        ("POST", "/druid/indexer/v1/supervisor", "WRITE on DATASOURCE of that supervisor"),
        ("POST", "/druid/indexer/v1/task", "WRITE on DATASOURCE of that task"),
        ("POST", "/druid/indexer/v1/worker", "WRITE on CONFIG CONFIG"),
        ("POST", "/druid/coordinator/v1/config", "WRITE on CONFIG CONFIG"),
        ("GET", "/druid/coordinator/v1/lookups/config", "READ on CONFIG CONFIG"),
        ("POST", "/druid/coordinator/v1/rules/a", "WRITE on DATASOURCE of that name"),
        ("DELETE", "/druid-ext/basic-security/authorization/db/a/users/b", "WRITE on CONFIG security"),
        ("GET", "/status", "READ on STATE STATE"),
    ],
)
def test_names_the_missing_permission(method: str, path: str, right: str) -> None:
    assert error_hints.of_forbidden(ADMIN, method, path) == f"The user admin needs the permission {right}"


def test_no_hint_for_other_errors() -> None:
    assert error_hints.of_forbidden(BEARER, "GET", "/statuses") == "The user lacks a permission"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (InvalidInput("spec.type", "kafak", "Use kafka."), "spec.type ('kafak'): Use kafka."),
        (InvalidInput("password", HIDDEN, "it is empty."), "password: it is empty."),
        (InvalidInput("spec", "x" * 1000, "no."), f"spec ('{'x' * 198}…): no."),
        (ApiError(400, "no", "GET", "http://a"), "GET http://a returned 400 Bad Request: no."),
        (ApiError(400, "no?", "GET", "http://a", "Go"), "GET http://a returned 400 Bad Request: no? Go."),
        (ApiError(400, "", "GET", "http://a"), "GET http://a returned 400 Bad Request."),
        (ApiError(599, "", "GET", "http://a"), "GET http://a returned 599 (non-standard status)."),
        (Unreachable("GET", "http://a", "gone", sent=True), "GET http://a got no response: gone."),
        (
            Unreachable("POST", "http://a", "gone", "Look", sent=True),
            "POST http://a got no response: gone. Look. It may have taken effect. Check before you send it again.",
        ),
        (Unreachable("POST", "http://a", "gone"), "POST http://a got no response: gone."),
    ],
)
def test_an_error_is_a_sentence(error: DruidError, message: str) -> None:
    assert str(error) == message


@pytest.mark.parametrize(
    ("status", "is_transient"), [(500, False), (501, False), (502, True), (503, True), (504, True)]
)
def test_transient_errors(status: int, is_transient: bool) -> None:
    assert ServerError(status, "", "GET", "http://a").is_transient is is_transient
