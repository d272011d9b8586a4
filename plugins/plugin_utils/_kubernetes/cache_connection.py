# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection to ansible-operator's proxy: HTTP without TLS, on the same host, in each run of the operator.

A run sends some 20 requests. With urllib3 and the kubeconfig's loader, half of its processor time was spent on them.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPMessage
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import without_credentials
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError

# connection.connect reports a missing library, and nothing is sent without it.
with suppress(ImportError):
    import urllib3

# PyYAML without libyaml has no other loader.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def connect_cache(kubeconfig: str) -> KubernetesApi:
    """Return the connection to the server in the kubeconfig that ansible-operator writes; KubernetesError names it."""
    try:
        document = yaml.load(Path(kubeconfig).read_text(encoding="utf-8"), Loader=_LOADER)
        server = document["clusters"][0]["cluster"]["server"]
        address, user = without_credentials(server)
    except (OSError, ValueError, LookupError, TypeError, yaml.YAMLError) as error:
        raise KubernetesError(f"Cannot connect to ansible-operator's cache: {kubeconfig}: {error!r}.") from error
    return KubernetesApi(address, PlainHttp(address), partial(dict, user))


class Response(NamedTuple):
    """A response with its whole body."""

    status: int
    headers: HTTPMessage
    data: bytes


@dataclass
class PlainHttp:
    """Sends requests to one server over one connection."""

    server: str
    _connection: HTTPConnection | None = field(default=None, init=False)

    def request(self, method: str, url: str, **arguments: Any) -> Response:
        """Send; urllib3's HTTPError if there is no response. A connection that has become unusable is replaced once."""
        was_used = self._connection is not None
        try:
            return self._send(method, url, **arguments)
        except (OSError, HTTPException) as error:
            self.close()
            if not was_used:
                raise urllib3.exceptions.MaxRetryError(None, url, error) from error  # type: ignore[arg-type]
        return self.request(method, url, **arguments)

    def _send(
        self, method: str, url: str, headers: Any, timeout: urllib3.Timeout, body: bytes | None = None, **_: Any
    ) -> Response:
        limit: Any = timeout.clone()
        limit.start_connect()
        connection = self._connection
        # after a response with "Connection: close", it has no socket
        if connection is None or connection.sock is None:
            address = urlsplit(self.server)
            connection = HTTPConnection(address.hostname or "", address.port, timeout=limit.connect_timeout)
            connection.connect()
            self._connection = connection
        connection.sock.settimeout(limit.read_timeout)
        connection.request(method, url.removeprefix(self.server), body, headers)
        answer = connection.getresponse()
        return Response(answer.status, answer.headers, answer.read())

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
