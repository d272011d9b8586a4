# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A client whose time passes only while it waits."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.client import Connection, DruidClient

USERNAME, PASSWORD = "admin", "pä§§ wörd"
BASIC = "Basic YWRtaW46cMOkwqfCpyB3w7ZyZA=="


class FakeTime:
    """A clock that notes each pause instead of making it, and the clients that go by it.

    ``retries``: the messages about requests that take long.
    """

    def __init__(self) -> None:
        self.pauses: list[float] = []
        self.retries: list[str] = []
        self._clients: list[DruidClient] = []

    def sleep(self, seconds: float) -> None:
        """Advance the time."""
        self.pauses.append(seconds)

    def client(self, *urls: str, **settings: Any) -> DruidClient:
        """Return a client of these servers. It logs in, unless other credentials are set."""
        credentials = {"username": USERNAME, "password": PASSWORD}
        if {"username", "token"} & settings.keys():
            credentials = {}
        connection = Connection(urls, **{**credentials, **settings})
        client = DruidClient(connection, now=lambda: sum(self.pauses), sleep=self.sleep, on_retry=self.retries.append)
        self._clients.append(client)
        return client

    def close(self) -> None:
        """Close the connections of all clients."""
        for client in self._clients:
            client.close()


@pytest.fixture
def fake_time(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An environment without proxies, bundles of CAs and passwords of the machine that the tests run on."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "requests_ca_bundle", "curl_ca_bundle"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("NETRC", "/dev/null")
    fake_time = FakeTime()
    yield fake_time
    fake_time.close()
