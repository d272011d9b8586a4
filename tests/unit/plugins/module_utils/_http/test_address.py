# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How servers are written, and what a message shows of them."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http import address as _address
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://druid:8888", "http://druid:8888"),
        (" HTTPS://Druid.Example.COM:443/ ", "https://druid.example.com"),
        ("http://druid:80", "http://druid"),
        ("https://druid:80", "https://druid:80"),
        ("http://[2001:DB8::1]:8888/", "http://[2001:db8::1]:8888"),
        ("https://gateway.example.com/druid/Production/", "https://gateway.example.com/druid/Production"),
        ("https://gateway.example.com/druid/coordinator", "https://gateway.example.com/druid/coordinator"),
        ("https://gateway.example.com/status-of-druid", "https://gateway.example.com/status-of-druid"),
    ],
)
def test_normalized_address(url: str, address: str) -> None:
    assert _address.server_url(url) == address
    assert _address.server_url(address) == address


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "it must start with http:// or https://"),
        ("druid:8888", "it must start with http:// or https://"),
        ("ftp://druid", "it must start with http:// or https://"),
        ("http://", "it has no host"),
        ("http://:8888", "it has no host"),
        ("http://dr uid", "it has no host"),
        ("http://druid:port", "Port could not be cast to integer value as 'port'"),
        ("http://druid:99999", "Port out of range 0-65535"),
        ("http://[::1", "Invalid IPv6 URL"),
        ("http://druid?x=1", "it must not contain ? or #"),
        ("http://druid#x", "it must not contain ? or #"),
    ],
)
def test_rejects_invalid_addresses(url: str, reason: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        _address.server_url(url)
    assert str(caught.value) == (
        f"url ('{url}'): {reason}. Set scheme, host, port, for example https://router.example.com:9088."
    )


@pytest.mark.parametrize(
    ("url", "page", "server"),
    [
        ("http://druid:8888/unified-console.html", "a page of the web console", "http://druid:8888"),
        ("http://druid:8888/unified-console.html#workbench", "a page of the web console", "http://druid:8888"),
        ("https://Druid/unified-console.html?x=1#datasources", "a page of the web console", "https://Druid"),
        ("http://druid:8888/console.html", "a page of the web console", "http://druid:8888"),
        ("http://druid:8888/#ingestion", "a page of the web console", "http://druid:8888"),
        ("https://gateway/druid/unified-console.html", "a page of the web console", "https://gateway/druid"),
        ("http://druid:8888/druid/v2/sql", "a path of Druid's API", "http://druid:8888"),
        ("http://druid:8888/druid/indexer/v1/supervisor", "a path of Druid's API", "http://druid:8888"),
        ("http://druid:8081/druid/coordinator/v1/", "a path of Druid's API", "http://druid:8081"),
        ("http://druid:8888/status/health", "a path of Druid's API", "http://druid:8888"),
    ],
)
def test_pages_of_druid_are_not_servers(url: str, page: str, server: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        _address.server_url(url)
    assert str(caught.value) == f"url ('{url}'): it is the address of {page}. Set only that of the server: {server}."


@pytest.mark.parametrize("url", ["http://user:hunter2@druid", "https://hunter2@druid", "hunter2@druid"])
def test_message_contains_no_credentials_of_a_url(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        _address.server_url(url)
    assert "hunter2" not in str(caught.value)
    assert "Use the options username and password, or token." in str(caught.value)


@pytest.mark.parametrize(
    ("url", "base", "is_below"),
    [
        ("http://a/x", "http://a", True),
        ("http://a", "http://a", True),
        ("http://A:80/x?y", "http://a", True),
        ("https://a/x", "http://a", False),
        ("http://a:81/x", "http://a", False),
        ("http://a.b/x", "http://a", False),
        ("http://ab/x", "http://a", False),
        ("http://b@a/x", "http://b", False),
        ("http://a@b/x", "http://a", False),
        ("http://a/p/x", "http://a/p", True),
        ("http://a/pq/x", "http://a/p", False),
        ("http://a/p/../q", "http://a/p", False),
        ("http://a/p/%2E%2e/q", "http://a/p", False),
    ],
)
def test_url_below_an_address(url: str, base: str, is_below: bool) -> None:
    assert _address.is_below(url, base) is is_below


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://a:1/b%2Fc?full=null&x=", "http://a:1/b%2Fc?full=null&x="),
        ("http://user:hunter2@a/b#c", "http://a/b"),
        (
            "http://a/?Access_Token=hunter2&password=hunter2&x=1",
            "http://a/?Access_Token=********&password=********&x=1",
        ),
    ],
)
def test_representation_contains_no_secret(url: str, shown: str) -> None:
    assert _address.redacted(url) == shown


@pytest.mark.parametrize(
    ("params", "query"),
    [
        (None, ""),
        ({}, ""),
        ({"a": None}, ""),
        ({"a": True, "b": False, "c": 1, "d": "x y&z", "full": ""}, "?a=true&b=false&c=1&d=x+y%26z&full="),
    ],
)
def test_writes_parameters_as_druid_reads_them(params: dict[str, object] | None, query: str) -> None:
    assert _address.query(params) == query


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1))
def test_segments_round_trip(segments: list[str]) -> None:
    if {".", ".."} & set(segments):
        with pytest.raises(InvalidInput):
            _address.path(*segments)
        return
    path = _address.path(*segments)
    assert urlsplit(f"http://a{path}").path == path
    assert [unquote(part) for part in path.split("/")[1:]] == segments
