# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection settings for Druid: servers, credentials and timeouts, validated on construction."""

from __future__ import annotations

import base64
import os
import ssl
from dataclasses import dataclass, field

from ansible_collections.druidops.druid.plugins.module_utils._http import address
from ansible_collections.druidops.druid.plugins.module_utils._http.time_limit import TimeLimit, Timeout
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import HIDDEN, NOT_SET, InvalidInput

MIB = 1024 * 1024


@dataclass(frozen=True)
class Connection:
    """The servers, tried in order, and the connection settings. Times in seconds. InvalidInput names the option."""

    urls: tuple[str, ...]
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    client_cert: str | None = None
    client_key: str | None = None
    verify: bool = True
    connect_timeout: float = 5
    # From the request to the last byte of the response. Stopping a supervisor may take 80 seconds.
    read_timeout: float = 120
    # How long idempotent requests are retried.
    retry_timeout: float = 30
    # Thousands of supervisors with their specs. Python needs up to 33 times as much for the values of a document.
    max_response_bytes: int = 64 * MIB
    # The author of the address must not reach the host where the task runs, nor the other addresses of ``own_host``.
    refuse_own_host: bool = False
    # Errors in no form of Druid's are quoted: the user has chosen the server. The author of a resource would read what
    # other servers in the network of the task respond.
    quotes_errors: bool = False
    # The URLs of the Kubernetes API server, which is one of these.
    api_servers: tuple[str, ...] = ()
    # Of the run, in the operator: it also limits each request, and writes have no other timeout.
    time_limit: TimeLimit | None = None
    # Lists of hosts (``host`` or ``host:port``; ``*``: any) that may receive credentials: each has to contain a host.
    credential_hosts: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        if not self.urls:
            raise InvalidInput(
                "url", NOT_SET, "no server is set. Set the option url or the environment variable DRUID_URL."
            )
        object.__setattr__(self, "urls", tuple(dict.fromkeys(address.server_url(url) for url in self.urls)))
        _check_credentials(self)
        _check_times(self)
        _check_certificates(self)

    def timeout(self, *, is_write: bool) -> Timeout:
        """Return the timeout of a request that is sent now; 0 seconds if the run has no time left."""
        own = Timeout(self.read_timeout, "read_timeout")
        if self.time_limit is None:
            return own
        of_run = self.time_limit.timeout(is_write=is_write)
        return of_run if is_write else min(own, of_run)._replace(total=of_run.total)

    @property
    def authorization(self) -> str | None:
        """The value of the Authorization header (RFC 7617 in UTF-8, as Druid reads it; RFC 6750)."""
        if self.token:
            return f"Bearer {self.token}"
        if self.username is None:
            return None
        return "Basic " + base64.b64encode(f"{self.username}:{self.password}".encode()).decode("ascii")

    @property
    def secrets(self) -> dict[str, str]:
        """The values that must never be shown, by names that mark them as secrets."""
        credential = (self.authorization or "").rpartition(" ")[2]
        specified = {"password": self.password, "token": self.token, "credential": credential}
        return {name: secret for name, secret in specified.items() if secret}


def _check_credentials(connection: Connection) -> None:
    username, password, token = connection.username, connection.password, connection.token
    if token is not None and (username is not None or password is not None):
        raise InvalidInput("token", HIDDEN, "username and password are also set. Set only one kind of credentials.")
    if (username is None) != (password is None):
        missing = "password" if password is None else "username"
        raise InvalidInput(
            missing, NOT_SET, "username and password must be set together (DRUID_USERNAME, DRUID_PASSWORD)."
        )
    if username is not None and ":" in username:
        raise InvalidInput("username", username, "HTTP basic authentication does not allow a colon in the user name.")
    if token is not None and not (token and token.isascii() and token.isprintable() and " " not in token):
        raise InvalidInput(
            "token", HIDDEN, "it must not be empty or contain spaces, line breaks or non-ASCII characters."
        )


def _check_times(connection: Connection) -> None:
    for name in ("connect_timeout", "read_timeout"):
        seconds = getattr(connection, name)
        if not seconds > 0:
            raise InvalidInput(name, seconds, "it must be greater than 0 seconds.")
    if not connection.retry_timeout >= 0:
        raise InvalidInput("retry_timeout", connection.retry_timeout, "it must not be negative.")


def _check_certificates(connection: Connection) -> None:
    """Read the files once, so that an error names the file instead of appearing as a failed handshake."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ca_file, certificate, key = connection.ca_file, connection.client_cert, connection.client_key
    if key and not certificate:
        raise InvalidInput("client_key", key, "a key requires its certificate. Set client_cert as well.")
    for option, file in (("ca_path", ca_file), ("client_cert", certificate), ("client_key", key)):
        if file and not os.access(file, os.R_OK):
            raise InvalidInput(option, file, "the file does not exist or is not readable where this task runs.")
    if ca_file:
        _check_authorities(context, ca_file)
    if certificate:
        _check_client(context, certificate, key)


def _check_authorities(context: ssl.SSLContext, ca_file: str) -> None:
    is_directory = os.path.isdir(ca_file)
    try:
        context.load_verify_locations(None if is_directory else ca_file, ca_file if is_directory else None)
    except ssl.SSLError:
        raise InvalidInput("ca_path", ca_file, "it contains no certificate in PEM format.") from None


def _check_client(context: ssl.SSLContext, certificate: str, key: str | None) -> None:
    try:
        # Without a password OpenSSL would prompt for one on the terminal.
        context.load_cert_chain(certificate, key, password="")
    except (ssl.SSLError, ValueError):
        remedy = "invalid certificate or key. Both must be PEM and match, and the key must not be encrypted."
        raise InvalidInput("client_cert", certificate, remedy) from None
