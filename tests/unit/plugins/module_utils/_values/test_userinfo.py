# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Users and passwords of URLs in messages."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.userinfo import without_userinfo

# (text, masked text; None: unchanged)
TEXTS: list[tuple[str, str | None]] = [
    ("https://user:hunter2@host:8888/path", "https://********@host:8888/path"),
    ("https://token@host", "https://********@host"),
    ("https://user:hun@ter2@host", "https://********@host"),
    ("https://user:hun/ter2@host", "https://********@host"),
    ("https://user:hun'ter\"2@host", "https://********@host"),
    ("jdbc:postgresql://user:hunter2@host/db", "jdbc:postgresql://********@host/db"),
    ("user:hunter2@host", "********@host"),
    ("'user:hunter2@host'", "'********@host'"),
    ("\"'https://user:hunter2@host'\" is no int", "\"'https://********@host'\" is no int"),
    ("from http://a:b@c to http://d:e@f", "from http://********@c to http://********@f"),
    ("https://host/path", None),
    ("alice@example.org", None),
    ("//@host", None),
    ("should match '^https?://[^/@?#]+/?$'", None),
    ("@ and length(@) and items[0:1]", None),
    ("apache/druid:36.0.0@sha256:0123", None),
    ("spec.nodes[brokers].druid.port: Invalid value", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_userinfo_is_masked(text: str, expected: str | None) -> None:
    assert without_userinfo(text) == (text if expected is None else expected)


@pytest.mark.parametrize("value", ["https://user:hunter2@host", ["https://user:hunter2@host"], {"a": "u:hunter2@host"}])
def test_the_message_about_an_option_has_no_password(value: object) -> None:
    message = str(InvalidInput("option", value, "set another value"))
    assert "hunter2" not in message
    assert "********@host" in message


def test_a_long_value_is_neither_shown_nor_searched() -> None:
    """Part of a secret would not be masked; the search of a mebibyte would take most of an hour."""
    message = str(InvalidInput("option", "a:b," * (1 << 18) + "@", "set another value"))
    assert message == "option (1,048,579 characters): set another value"
