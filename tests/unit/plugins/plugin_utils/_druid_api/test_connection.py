# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Credentials are read from Secrets that the resource may refer to; an error names the missing Secret or key."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import (
    ConnectionUnavailable,
    connect,
    connection_details,
    disallowed_secret,
    secrets_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
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
