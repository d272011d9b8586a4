# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How to connect to Druid: credentials and certificates from the Secrets that a resource references."""

from __future__ import annotations

import base64
import binascii
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from ansible_collections.druidops.druid.plugins.module_utils._http.address import is_listed, server_url
from ansible_collections.druidops.druid.plugins.module_utils._http.client import MISSING, Connection, DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import request
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import ConnectionUnavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import CA_FIELD, DruidTarget, SecretKey
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    FORBIDDEN,
    ApiError,
    DruidopsError,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads

USER_NAME, PASSWORD = "OperatorUserName", "OperatorPassword"
CERTIFICATE, KEY = "tls.crt", "tls.key"
BASIC = "basic-auth"
# Of a Secret: the hosts, separated by commas, to which an endpoint.url may send its credentials.
ALLOWED_HOSTS_ANNOTATION = "druid.apache.org/allowed-hosts"
# A response with more bytes is not read. Python needs up to 33 times as much for its values, at most what a run of
# the operator may have.
MAX_RESPONSE_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class ConnectionDetails:
    """An address and its credentials. The certificates and the key are in PEM format.

    `refuse_own_host`: the address must not point to the host where the task runs, nor to `api_servers`.
    `credential_hosts`: lists of hosts, each of which has to contain that of a server that receives credentials.
    `quotes_errors`: the task sets the address.
    """

    url: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    authorities: str | None = field(default=None, repr=False)
    certificate: str | None = field(default=None, repr=False)
    key: str | None = field(default=None, repr=False)
    refuse_own_host: bool = False
    api_servers: tuple[str, ...] = ()
    credential_hosts: tuple[tuple[str, ...], ...] = ()
    quotes_errors: bool = False


@dataclass(frozen=True)
class AuthorLimits:
    """Limits for an address that the author of a resource has set, as opposed to that of the task.

    `allowed_hosts`: those to which the administrator permits to send the credentials of any Secret.
    """

    refuse_own_host: bool = False
    api_servers: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()


class AuthorOptions(Protocol):
    """The options of a task that limit the author of a resource."""

    @property
    def refuse_own_host(self) -> bool:
        """Whether this host and the API server are refused."""

    @property
    def allowed_endpoint_hosts(self) -> tuple[str, ...]:
        """The hosts that may receive the credentials of any Secret."""


def author_limits(reads: Reads, options: AuthorOptions) -> AuthorLimits:
    """Return the limits for what a resource leads to: its address, or a router, which may announce any other."""
    if not options.refuse_own_host:
        return AuthorLimits(allowed_hosts=options.allowed_endpoint_hosts)
    servers = (reads.api_server, *_endpoints_of_api_server(reads))
    return AuthorLimits(True, servers, options.allowed_endpoint_hosts)


def _endpoints_of_api_server(reads: Reads) -> tuple[str, ...]:
    """Return the URLs of the API server on its nodes; none without the permission to read them."""
    try:
        found = reads.get("EndpointSlice", "kubernetes", "default") or {}
    except ApiError as error:
        if error.status != FORBIDDEN:
            raise
        return ()
    addresses = [address for each in found.get("endpoints") or () for address in each.get("addresses") or ()]
    ports = [each["port"] for each in found.get("ports") or () if each.get("port")]
    return tuple(f"https://{f'[{each}]' if ':' in each else each}:{port}" for each in addresses for port in ports)


def connection_details(
    target: DruidTarget,
    url: str,
    secrets: Mapping[SecretKey, Manifest | None],
    limits: AuthorLimits | None = None,
) -> ConnectionDetails:
    """Return how to connect to Druid; ConnectionUnavailable names the Secret, or the key in it, that is missing.

    `limits`: None if the task sets the address.
    """
    contents = {key.field: _content(key, secret) for key, secret in secrets.items()}
    kind = target.auth.get("type")
    if kind not in (None, BASIC):
        raise ConnectionUnavailable(reasons.INVALID_SPEC, f"spec.auth.type ({kind!r}): must be {BASIC}.")
    is_of_task = limits is None
    limits = limits or AuthorLimits(allowed_hosts=("*",))
    auth = contents.get("spec.auth.secretRef")
    trust = contents.get(CA_FIELD)
    own = contents.get("spec.endpoint.clientCertificateSecretRef")
    return ConnectionDetails(
        url=url,
        username=auth.value(str(target.auth.get("usernameKey") or USER_NAME)) if auth else None,
        password=auth.value(str(target.auth.get("passwordKey") or PASSWORD)) if auth else None,
        authorities=trust.value(str(target.endpoint["caSecretRef"].get("key"))) if trust else None,
        certificate=own.value(CERTIFICATE) if own else None,
        key=own.value(KEY) if own else None,
        refuse_own_host=limits.refuse_own_host,
        api_servers=limits.api_servers,
        credential_hosts=_credential_hosts(target, url, secrets, limits),
        quotes_errors=is_of_task,
    )


def _credential_hosts(
    target: DruidTarget, url: str, secrets: Mapping[SecretKey, Manifest | None], limits: AuthorLimits
) -> tuple[tuple[str, ...], ...]:
    """Return the hosts that each Secret permits, if the address is that of the resource.

    An author of resources is not necessarily allowed to read the Secret: its owner, or the administrator, decides where
    its credentials may be sent. ConnectionUnavailable has the command.
    """
    if url != target.endpoint.get("url"):
        return ()
    try:
        server = server_url(url)
    except InvalidInput:
        # the connection reports it
        return ()
    permitted = []
    for key, secret in secrets.items():
        if secret is None or key.field == CA_FIELD:
            continue
        specified = ((secret.get("metadata") or {}).get("annotations") or {}).get(ALLOWED_HOSTS_ANNOTATION) or ""
        hosts = tuple(filter(None, map(str.strip, specified.split(","))))
        if not is_listed(server, (*hosts, *limits.allowed_hosts)):
            raise ConnectionUnavailable(reasons.REF_NOT_PERMITTED, _unlisted(key, server, hosts))
        permitted.append((*hosts, *limits.allowed_hosts))
    return tuple(permitted)


def _unlisted(key: SecretKey, server: str, hosts: tuple[str, ...]) -> str:
    host = server.partition("//")[2].partition("/")[0]
    annotation = shlex.quote(f"{ALLOWED_HOSTS_ANNOTATION}={','.join((*hosts, host))}")
    where = f"{shlex.quote(key.name)} --namespace {shlex.quote(key.namespace)}"
    return (
        f"{key.field}: Secret {key.name} in namespace {key.namespace} does not permit that its credentials are sent to "
        f"{host} (spec.endpoint.url). Its owner permits it with: kubectl annotate secret {where} --overwrite "
        f"{annotation}. The administrator permits hosts for all Secrets: in the modules by allowed_endpoint_hosts, in "
        "the roles by druid_cluster_allowed_endpoint_hosts or druid_ingestion_allowed_endpoint_hosts, in the operator "
        "by ALLOWED_ENDPOINT_HOSTS."
    )


@dataclass(frozen=True)
class _Content:
    key: SecretKey
    data: Mapping[str, str] = field(repr=False)

    def value(self, name: str) -> str:
        where = f"{self.key.field}: Secret {self.key.name} in namespace {self.key.namespace}"
        if name not in self.data:
            raise ConnectionUnavailable(reasons.SECRET_NOT_FOUND, f"{where} has no key {name}. Add it.")
        try:
            return base64.b64decode(self.data[name], validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            raise ConnectionUnavailable(
                reasons.SECRET_NOT_FOUND, f"{where}: the value of the key {name} is not valid UTF-8. Fix it."
            ) from None


def secret_value(key: SecretKey, secret: Manifest | None, name: str) -> str:
    """Return the value of a key in a Secret; ConnectionUnavailable names what is missing."""
    return _content(key, secret).value(name)


def _content(key: SecretKey, secret: Manifest | None) -> _Content:
    if secret is None:
        message = f"{key.field}: there is no Secret {key.name} in namespace {key.namespace}. Create it."
        raise ConnectionUnavailable(reasons.SECRET_NOT_FOUND, message)
    return _Content(key, secret.get("data") or {})


@contextmanager
def connect(details: ConnectionDetails, timeouts: Timeouts, meter: Meter) -> Iterator[DruidClient]:
    """Yield a client for Druid; ConnectionUnavailable if a certificate cannot be used. This sends no request."""
    if MISSING is not None:
        needed = f"The Python library requests is not installed where the playbook runs ({sys.executable}): {MISSING}."
        raise DruidopsError(needed)
    with ExitStack() as stack:
        directory = Path(stack.enter_context(TemporaryDirectory(prefix="druidops-")))
        connection = _connection(details, timeouts, directory)
        client = stack.enter_context(DruidClient(connection, on_retry=meter.on_druid_retry))
        stack.callback(lambda: meter.add_druid(client.traffic))
        yield client


def _connection(details: ConnectionDetails, timeouts: Timeouts, directory: Path) -> Connection:
    try:
        return Connection(
            urls=(details.url,),
            username=details.username,
            password=details.password,
            ca_file=_file(directory / "ca.crt", details.authorities),
            client_cert=_file(directory / CERTIFICATE, details.certificate),
            client_key=_file(directory / KEY, details.key),
            read_timeout=timeouts.read_timeout,
            retry_timeout=timeouts.retry_timeout,
            time_limit=timeouts.of_run,
            max_response_bytes=MAX_RESPONSE_BYTES,
            refuse_own_host=details.refuse_own_host,
            api_servers=details.api_servers,
            credential_hosts=details.credential_hosts,
            quotes_errors=details.quotes_errors,
        )
    except InvalidInput as error:
        raise ConnectionUnavailable(reasons.INVALID_SPEC, _message(error)) from error


def _message(error: InvalidInput) -> str:
    if error.name in ("ca_path", "client_cert", "client_key"):
        # its message names a temporary file, which differs in every reconcile
        return f"{request.resource_field(error.name)}: {error.remedy}"
    return request.error_finding(error).message


def _file(path: Path, content: str | None) -> str | None:
    """Write a file with mode 0600; the TLS library reads certificates from files only."""
    if content is None:
        return None
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        file.write(content)
    return str(path)
