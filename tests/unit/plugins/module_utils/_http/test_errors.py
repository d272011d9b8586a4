# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The messages of errors."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ApiError, ServerError, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import HIDDEN, DruidError, InvalidInput


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (InvalidInput("spec.type", "kafak", "Use kafka."), "spec.type ('kafak'): Use kafka."),
        (InvalidInput("password", HIDDEN, "it is empty."), "password: it is empty."),
        (InvalidInput("spec", "x" * 1000, "no."), "spec (1,002 characters): no."),
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
