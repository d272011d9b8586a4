# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Credentials are read from Secrets that the resource may refer to; an error names the missing Secret or key."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import (
    AuthorLimits,
    ConnectionUnavailable,
    Timeouts,
    connect,
    connection_details,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import disallowed_secret, secrets_of
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import ingestion

URL = "http://druid:8888"
AUTH = {"type": "basic-auth", "secretRef": {"name": "login"}}
CANARY = "hunter2hunter2"


def secret(**data: str) -> dict[str, Any]:
    return {"kind": "Secret", "data": {name: base64.b64encode(text.encode()).decode() for name, text in data.items()}}


def details_of(described: Any, *secrets: Any) -> Any:
    return connection_details(described, URL, dict(zip(secrets_of(described), secrets, strict=True)))


def test_reads_user_and_password() -> None:
    login = secret(OperatorUserName="u", OperatorPassword=CANARY)
    details = details_of(ingestion(auth=AUTH), login)
    assert (details.url, details.username, details.password) == (URL, "u", CANARY)
    assert CANARY not in repr(details)
    named = ingestion(auth={**AUTH, "usernameKey": "a", "passwordKey": "b"})
    assert details_of(named, secret(a="u", b="p")).password == "p"


def test_reads_certificates() -> None:
    endpoint = {"caSecretRef": {"name": "ca", "key": "ca.crt"}, "clientCertificateSecretRef": {"name": "own"}}
    trust, own = secret(**{"ca.crt": "A"}), secret(**{"tls.crt": "C", "tls.key": "K"})
    details = details_of(ingestion(endpoint=endpoint), trust, own)
    assert (details.authorities, details.certificate, details.key) == ("A", "C", "K")
    assert details.username is None


@pytest.mark.parametrize(
    ("auth", "login", "reason", "message"),
    [
        (AUTH, None, "SecretNotFound", "spec.auth.secretRef: there is no Secret login in namespace ns. Create it."),
        (AUTH, secret(OperatorUserName="u"), "SecretNotFound", "has no key OperatorPassword. Add it."),
        (AUTH, {"data": {"OperatorUserName": "//8="}}, "SecretNotFound", "is not valid UTF-8"),
        ({**AUTH, "type": "kerberos"}, secret(), "InvalidSpec", "spec.auth.type ('kerberos'): must be basic-auth."),
    ],
)
def test_error_names_the_missing_secret_or_key(auth: Any, login: Any, reason: str, message: str) -> None:
    with pytest.raises(ConnectionUnavailable) as raised:
        details_of(ingestion(auth=auth), login)
    assert raised.value.finding.reason == reason
    assert message in raised.value.finding.message


@pytest.mark.parametrize(
    ("allowed", "is_disallowed"), [((), True), (("other",), True), (("there",), False), (("*",), False)]
)
def test_secret_of_another_namespace_must_be_allowed(allowed: tuple[str, ...], is_disallowed: bool) -> None:
    keys = secrets_of(ingestion(auth={**AUTH, "secretRef": {"name": "login", "namespace": "there"}}))
    finding = disallowed_secret(keys, "ns", allowed)
    assert (finding is not None) is is_disallowed
    assert finding is None or finding.reason == "RefNotPermitted"
    assert disallowed_secret(secrets_of(ingestion(auth=AUTH)), "ns", ()) is None


@pytest.mark.parametrize("invalid", [5, "text", [1], {"name": None}])
def test_invalid_secret_reference_is_ignored(invalid: Any) -> None:
    endpoint = {"caSecretRef": invalid, "clientCertificateSecretRef": invalid}
    assert secrets_of(ingestion(auth={**AUTH, "secretRef": invalid}, endpoint=endpoint)) == ()


def test_certificate_files_are_deleted_with_the_connection(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with connect(connection_details(ingestion(), URL, {}), Timeouts(), Meter()):
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


# The author of a resource must not send the credentials of a Secret anywhere: its owner permits a host, or the
# administrator.

OTHER = "https://druid.example.com:9088/x"
AT_ENDPOINT = {"auth": AUTH, "endpoint": {"url": OTHER}}


def login_for(hosts: str | None) -> dict[str, Any]:
    annotations = {} if hosts is None else {"druid.apache.org/allowed-hosts": hosts}
    return {**secret(OperatorUserName="u", OperatorPassword=CANARY), "metadata": {"annotations": annotations}}


def sent_to(url: str, described: Any, found: Any, limits: AuthorLimits | None) -> Any:
    return connection_details(described, url, dict(zip(secrets_of(described), found, strict=True)), limits)


@pytest.mark.parametrize(
    ("hosts", "allowed", "is_permitted"),
    [
        (None, (), False),
        ("", (), False),
        ("example.com, druid.example.com.evil.com", (), False),
        ("druid.example.com:8888", (), False),
        ("druid.example.com", (), True),
        ("a, DRUID.example.com:9088", (), True),
        (None, ("druid.example.com",), True),
        (None, ("*",), True),
        (None, ("",), False),
    ],
)
def test_credentials_are_sent_to_a_host_that_the_secret_or_the_administrator_permits(
    hosts: str | None, allowed: tuple[str, ...], is_permitted: bool
) -> None:
    described, found, limits = ingestion(**AT_ENDPOINT), [login_for(hosts)], AuthorLimits(allowed_hosts=allowed)
    if is_permitted:
        # a redirect may not lead elsewhere
        assert sent_to(OTHER, described, found, limits).credential_hosts != ()
        return
    with pytest.raises(ConnectionUnavailable) as raised:
        sent_to(OTHER, described, found, limits)
    assert raised.value.finding.reason == "RefNotPermitted"


def test_refusal_has_the_command_that_permits_the_host_and_keeps_the_others() -> None:
    with pytest.raises(ConnectionUnavailable) as raised:
        sent_to(OTHER, ingestion(**AT_ENDPOINT), [login_for("a.example.com")], AuthorLimits())
    message = raised.value.finding.message
    command = (
        "kubectl annotate secret login --namespace ns --overwrite "
        "druid.apache.org/allowed-hosts=a.example.com,druid.example.com:9088. "
    )
    assert command in message
    assert "in the operator by ALLOWED_ENDPOINT_HOSTS" in message
    assert CANARY not in message


def test_text_of_the_resource_is_quoted_in_the_command() -> None:
    url = "http://$(id);x:1"
    with pytest.raises(ConnectionUnavailable, match=r"--overwrite 'druid.apache.org/allowed-hosts=\$\(id\);x:1'"):
        sent_to(url, ingestion(auth=AUTH, endpoint={"url": url}), [login_for(None)], AuthorLimits())


def test_client_certificate_needs_permission_and_trusted_authorities_do_not() -> None:
    trust = {"url": OTHER, "caSecretRef": {"name": "ca", "key": "ca.crt"}}
    assert sent_to(OTHER, ingestion(endpoint=trust), [secret(**{"ca.crt": "A"})], AuthorLimits()).authorities == "A"
    own = {"url": OTHER, "clientCertificateSecretRef": {"name": "own"}}
    with pytest.raises(ConnectionUnavailable, match=r"spec.endpoint.clientCertificateSecretRef: Secret own"):
        sent_to(OTHER, ingestion(endpoint=own), [secret(**{"tls.crt": "C", "tls.key": "K"})], AuthorLimits())


@pytest.mark.parametrize(("url", "limits"), [("http://druid-c-routers.ns.svc:8088", AuthorLimits()), (URL, None)])
def test_the_router_of_a_cluster_and_the_address_of_the_task_need_no_permission(
    url: str, limits: AuthorLimits | None
) -> None:
    details = sent_to(url, ingestion(**AT_ENDPOINT), [login_for(None)], limits)
    assert (details.password, details.credential_hosts) == (CANARY, ())
