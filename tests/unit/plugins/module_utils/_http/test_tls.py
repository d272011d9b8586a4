# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""TLS: which servers the client trusts, and its messages otherwise. Real handshakes, certificates made for the test."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import Redirected, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.certificates import Pair, encrypted, make
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import FakeTime, fake_time
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import (
    Server,
    be_silent,
    drip,
    say,
    serving,
)

__all__ = ["fake_time"]

CA_HINT = "Set ca_path to the CA that signed it, and use a host name in url that the certificate is valid for."


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates")


@pytest.fixture(scope="module")
def authority(directory: Path) -> Pair:
    return make(directory, "authority")


@pytest.fixture(scope="module")
def certificate(directory: Path, authority: Pair) -> Pair:
    return make(directory, "druid", authority)


@pytest.fixture
def server(certificate: Pair) -> Iterator[Server]:
    with serving(certificate.server()) as running:
        yield running


def test_trusts_the_specified_ca(server: Server, authority: Pair, fake_time: FakeTime) -> None:
    server.answers = [say(200, {"a": 1})]
    assert fake_time.client(server.url, ca_file=str(authority.certificate_file)).get("/x") == {"a": 1}


def test_does_not_trust_an_unspecified_ca(server: Server, fake_time: FakeTime) -> None:
    with pytest.raises(Unreachable) as caught:
        fake_time.client(server.url).post("/x")
    assert str(caught.value) == (
        f"POST {server.url}/x got no response: the server's certificate is not trusted "
        f"(unable to get local issuer certificate). {CA_HINT}"
    )
    assert not caught.value.sent
    assert (server.asked, fake_time.pauses) == ([], [])


def test_does_not_trust_another_ca(server: Server, directory: Path, fake_time: FakeTime) -> None:
    other = make(directory, "other")
    with pytest.raises(Unreachable, match=r"the server's certificate is not trusted \("):
        fake_time.client(server.url, ca_file=str(other.certificate_file)).get("/x")
    assert (server.asked, fake_time.pauses) == ([], [])


def test_does_not_trust_a_self_signed_certificate(directory: Path, fake_time: FakeTime) -> None:
    with serving(make(directory, "itself").server()) as server:
        with pytest.raises(Unreachable, match=r"the server's certificate is not trusted \(self.signed certificate\)"):
            fake_time.client(server.url).get("/x")
        assert server.asked == []


def test_does_not_trust_a_certificate_of_another_host(directory: Path, authority: Pair, fake_time: FakeTime) -> None:
    with serving(make(directory, "elsewhere", authority, "192.0.2.1").server()) as server:
        with pytest.raises(Unreachable, match=r"not trusted \(IP address mismatch, certificate is not valid for"):
            fake_time.client(server.url, ca_file=str(authority.certificate_file)).get("/x")
        assert server.asked == []


def test_trusts_any_certificate_if_validation_is_off(
    server: Server, fake_time: FakeTime, monkeypatch: pytest.MonkeyPatch, directory: Path
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(make(directory, "bundle").certificate_file))
    fake_time.client(server.url, verify=False).get("/x")
    assert server.paths == ["GET /x"]


def test_presents_its_client_certificate(
    directory: Path, authority: Pair, certificate: Pair, fake_time: FakeTime
) -> None:
    client = make(directory, "client", authority)
    with serving(certificate.server(clients_of=authority)) as server:
        files = {"client_cert": str(client.certificate_file), "client_key": str(client.key_file)}
        fake_time.client(server.url, ca_file=str(authority.certificate_file), **files).get("/x")
        assert server.paths == ["GET /x"]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_missing_client_certificate_is_reported(
    version: ssl.TLSVersion, authority: Pair, certificate: Pair, fake_time: FakeTime
) -> None:
    context = certificate.server(clients_of=authority)
    context.minimum_version = context.maximum_version = version
    with serving(context) as server:
        with pytest.raises(Unreachable) as caught:
            fake_time.client(server.url, ca_file=str(authority.certificate_file)).post("/x")
        # Since TLS 1.3 the server reports it during the request, or just closes the connection.
        assert "client certificate" in str(caught.value)
        assert "(client_cert)" in str(caught.value)
        assert server.asked == []


def test_https_to_a_port_without_tls(fake_time: FakeTime) -> None:
    with serving() as server:
        url = server.url.replace("http:", "https:")
        with pytest.raises(Unreachable, match="Check whether url has Druid's TLS port"):
            fake_time.client(url).post("/x")


def test_http_to_a_port_with_tls(server: Server, fake_time: FakeTime) -> None:
    with pytest.raises(Unreachable, match="closed the connection"):
        fake_time.client(server.url.replace("https:", "http:")).post("/x")
    assert server.asked == []


@pytest.mark.parametrize("answer", [be_silent, drip(b"HTTP/1.1 200 OK\r\n\r\n")])
def test_slow_response_times_out(answer: Any, server: Server, authority: Pair, fake_time: FakeTime) -> None:
    server.answers = [answer]
    with pytest.raises(Unreachable) as caught:
        fake_time.client(server.url, ca_file=str(authority.certificate_file), read_timeout=0.3).get("/x")
    assert str(caught.value) == (
        f"GET {server.url}/x got no response: no complete response within 0.3 seconds (read_timeout). "
        "Druid may be busy. Check its log."
    )
    assert len(server.asked) == 1


def test_redirect_from_https_to_http_is_rejected(server: Server, authority: Pair, fake_time: FakeTime) -> None:
    with serving() as leader:
        server.answers = [say(307, Location=f"{leader.url}/x")]
        with pytest.raises(Redirected) as caught:
            fake_time.client(server.url, leader.url, ca_file=str(authority.certificate_file)).get("/x")
        assert str(caught.value) == (
            f"GET {server.url}/x returned 307 Temporary Redirect: a redirect to {leader.url}. "
            "Redirects from https to http are not followed. Set url to the correct server."
        )
        assert leader.asked == []


# Invalid files are reported before anything is sent.


def connection(**settings: Any) -> Connection:
    return Connection(("https://127.0.0.1:1",), **{name: str(value) for name, value in settings.items()})


def test_names_the_missing_file(directory: Path) -> None:
    missing = directory / "missing.pem"
    for setting, option in (("ca_file", "ca_path"), ("client_cert", "client_cert")):
        with pytest.raises(InvalidInput, match=rf"^{option} \('{missing}'\): the file does not exist"):
            connection(**{setting: missing})


def test_names_the_file_without_a_certificate(directory: Path, certificate: Pair) -> None:
    text = directory / "text"
    text.write_text("hello")
    with pytest.raises(InvalidInput, match=r"^ca_path .*: it contains no certificate in PEM format"):
        connection(ca_file=text)
    with pytest.raises(InvalidInput, match=r"^client_cert .*: invalid certificate or key"):
        connection(client_cert=text)
    with pytest.raises(InvalidInput, match=r"^client_cert .*: invalid certificate or key"):
        connection(client_cert=certificate.certificate_file)


def test_rejects_an_encrypted_a_mismatching_and_a_lone_key(certificate: Pair, authority: Pair) -> None:
    for key in (encrypted(certificate, b"hunter2"), encrypted(certificate, b"x"), authority.key_file):
        with pytest.raises(InvalidInput, match="invalid certificate or key"):
            connection(client_cert=certificate.certificate_file, client_key=key)
    with pytest.raises(InvalidInput, match=r"^client_key .* Set client_cert as well"):
        connection(client_key=certificate.key_file)


def test_accepts_a_directory_of_cas(directory: Path) -> None:
    assert connection(ca_file=directory).ca_file == str(directory)
