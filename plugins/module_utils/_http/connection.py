# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How Druid is reached, and with which credentials: a value that is checked when it is made."""

from __future__ import annotations

import base64
import os
import ssl
from dataclasses import dataclass, field

from ansible_collections.druidops.druid.plugins.module_utils._http import address
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import HIDDEN, InvalidInput

MIB = 1024 * 1024


@dataclass(frozen=True)
class Connection:
    """The servers, tried in turn, and how to connect. Times in seconds. InvalidInput names the module's option."""

    urls: tuple[str, ...]
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    client_cert: str | None = None
    client_key: str | None = None
    verify: bool = True
    connect_timeout: float = 5
    # From the request to the last byte of its answer. A supervisor may take 80 seconds to stop.
    read_timeout: float = 120
    # The same for a request that may change something; None: it has no longer.
    write_timeout: float | None = None
    # How long calls that may be repeated are tried again.
    retry_timeout: float = 30
    max_response_bytes: int = 64 * MIB

    def __post_init__(self) -> None:
        if not self.urls:
            raise InvalidInput(
                "url", [], "no server is named. Set the option url or the environment variable DRUID_URL."
            )
        object.__setattr__(self, "urls", tuple(dict.fromkeys(address.server_url(url) for url in self.urls)))
        _check_credentials(self)
        _check_times(self)
        _check_certificates(self)

    def timeout_for(self, method: str) -> tuple[str, float]:
        """Return how long the answer to a request may take, in seconds, and before it the option that says so."""
        if method == "GET" or self.write_timeout is None:
            return "read_timeout", self.read_timeout
        return "write_timeout", self.write_timeout

    @property
    def authorization(self) -> str | None:
        """The value of the header Authorization (RFC 7617 in UTF-8, as Druid reads it; RFC 6750)."""
        if self.token:
            return f"Bearer {self.token}"
        if self.username is None:
            return None
        return "Basic " + base64.b64encode(f"{self.username}:{self.password}".encode()).decode("ascii")

    @property
    def secrets(self) -> dict[str, str]:
        """What must be shown nowhere, each by a name that says so."""
        credential = (self.authorization or "").rpartition(" ")[2]
        specified = {"password": self.password, "token": self.token, "credential": credential}
        return {name: secret for name, secret in specified.items() if secret}


def _check_credentials(connection: Connection) -> None:
    username, password, token = connection.username, connection.password, connection.token
    if token is not None and (username is not None or password is not None):
        raise InvalidInput("token", HIDDEN, "username and password are set, too. Set either them or token.")
    if (username is None) != (password is None):
        missing = "password" if password is None else "username"
        raise InvalidInput(
            missing, None, "username and password belong together. Set both (DRUID_USERNAME, DRUID_PASSWORD)."
        )
    if username is not None and ":" in username:
        raise InvalidInput("username", username, "HTTP basic authentication allows no colon in it.")
    if token is not None and not (token and token.isascii() and token.isprintable() and " " not in token):
        raise InvalidInput(
            "token", HIDDEN, "it is empty, or has blanks, line ends or letters that no HTTP header can have."
        )


def _check_times(connection: Connection) -> None:
    for name in ("connect_timeout", "read_timeout", "write_timeout"):
        seconds = getattr(connection, name)
        if seconds is not None and not seconds > 0:
            raise InvalidInput(name, seconds, "it has to be more than 0 seconds.")
    if not connection.retry_timeout >= 0:
        raise InvalidInput("retry_timeout", connection.retry_timeout, "it must not be less than 0 seconds.")


def _check_certificates(connection: Connection) -> None:
    """Read the files once, so that what is wrong with them is said by name, and not as a failed handshake."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ca_file, certificate, key = connection.ca_file, connection.client_cert, connection.client_key
    if key and not certificate:
        raise InvalidInput("client_key", key, "a key is of no use without its certificate. Set client_cert, too.")
    for option, file in (("ca_path", ca_file), ("client_cert", certificate), ("client_key", key)):
        if file and not os.access(file, os.R_OK):
            raise InvalidInput(option, file, "there is no such file, or it must not be read, where this task runs.")
    if ca_file:
        _check_authorities(context, ca_file)
    if certificate:
        _check_client(context, certificate, key)


def _check_authorities(context: ssl.SSLContext, ca_file: str) -> None:
    is_directory = os.path.isdir(ca_file)
    try:
        context.load_verify_locations(None if is_directory else ca_file, ca_file if is_directory else None)
    except ssl.SSLError:
        raise InvalidInput("ca_path", ca_file, "it contains no certificate in PEM form.") from None


def _check_client(context: ssl.SSLContext, certificate: str, key: str | None) -> None:
    try:
        # Without a password OpenSSL would ask for one on the terminal.
        context.load_cert_chain(certificate, key, password="")
    except (ssl.SSLError, ValueError):
        remedy = "certificate and key cannot be used: both have to be PEM, belong together, and the key be unencrypted."
        raise InvalidInput("client_cert", certificate, remedy) from None
