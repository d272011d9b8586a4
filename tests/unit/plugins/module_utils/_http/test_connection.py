# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a connection can be made of, and that it keeps its secrets."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput

URLS = ("http://druid:8888",)

# (settings, the whole message)
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"urls": ()}, "url: no server is set. Set the option url or the environment variable DRUID_URL."),
    (
        {"username": "a"},
        "password: username and password must be set together (DRUID_USERNAME, DRUID_PASSWORD).",
    ),
    (
        {"password": "hunter2"},
        "username: username and password must be set together (DRUID_USERNAME, DRUID_PASSWORD).",
    ),
    (
        {"username": "a:b", "password": "hunter2"},
        "username ('a:b'): HTTP basic authentication does not allow a colon in the user name.",
    ),
    (
        {"username": "a", "password": "b", "token": "hunter2"},
        "token: username and password are also set. Set only one kind of credentials.",
    ),
    *(
        (
            {"token": token},
            "token: it must not be empty or contain spaces, line breaks or non-ASCII characters.",
        )
        for token in ("", "hunter2 ", "hunter2\n", "hünter2", "hunter2\r\nX-Other: 1")
    ),
    ({"connect_timeout": 0}, "connect_timeout (0): it must be greater than 0 seconds."),
    ({"read_timeout": -1.5}, "read_timeout (-1.5): it must be greater than 0 seconds."),
    ({"read_timeout": float("nan")}, "read_timeout (NaN): it must be greater than 0 seconds."),
    ({"retry_timeout": -1}, "retry_timeout (-1): it must not be negative."),
]


@pytest.mark.parametrize(("settings", "message"), REFUSED)
def test_names_the_invalid_option(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Connection(**{"urls": URLS, **settings})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("settings", "authorization"),
    [
        ({}, None),
        ({"username": "Aladdin", "password": "open sesame"}, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
        ({"username": "test", "password": "123£"}, "Basic dGVzdDoxMjPCow=="),
        ({"username": "a", "password": ""}, "Basic YTo="),
        ({"token": "mF_9.B5f-4.1JqM"}, "Bearer mF_9.B5f-4.1JqM"),
    ],
)
def test_header_of_rfc_7617_and_6750(settings: dict[str, Any], authorization: str | None) -> None:
    assert Connection(URLS, **settings).authorization == authorization


def test_representation_contains_no_secret() -> None:
    for connection in (Connection(URLS, username="a", password="hunter2"), Connection(URLS, token="hunter2")):
        assert "hunter2" not in repr(connection)
        assert "hunter2" in connection.secrets.values()


def test_names_a_server_once() -> None:
    assert Connection(("http://druid:80/", "http://other", "HTTP://druid")).urls == ("http://druid", "http://other")
