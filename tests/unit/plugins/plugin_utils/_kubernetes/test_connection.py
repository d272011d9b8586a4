# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of kubernetes.core have the same effect here."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import connect, context_of
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError, Unreachable
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.certificates import Pair, make
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import (
    Request,
    Response,
    Server,
    serving,
)

UNREACHABLE = "https://192.0.2.1"

pytestmark = pytest.mark.usefixtures("clean_environment")


def sent_request(server: Server, options: dict[str, Any]) -> Request:
    """Return the request that a connection with these options sends."""
    api = connect(options)
    api.get("Namespace", None, "n")
    api.transport.clear()  # type: ignore[attr-defined]
    return server.requests[-1]


def kubeconfig(server: Server, user: dict[str, Any], context: str = "mine") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": context,
        "clusters": [{"name": "here", "cluster": {"server": server.url}}],
        "users": [{"name": "me", "user": user}, {"name": "other", "user": {"token": "of-other"}}],
        "contexts": [
            {"name": "mine", "context": {"cluster": "here", "user": "me"}},
            {"name": "others", "context": {"cluster": "here", "user": "other"}},
        ],
    }


def basic(user: str, password: str) -> list[str]:
    return ["Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()]


def test_host_and_token_are_sufficient(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("{not a kubeconfig", encoding="utf-8")
    monkeypatch.setenv("KUBECONFIG", str(broken))
    monkeypatch.setenv("K8S_AUTH_KUBECONFIG", str(broken))
    options = {"host": server.url, "api_key": "k"}
    assert sent_request(server, options).headers["authorization"] == ["Bearer k"]


def test_host_and_password_are_sufficient(server: Server) -> None:
    options = {"host": server.url, "username": "u", "password": "p:q"}
    assert sent_request(server, options).headers["authorization"] == basic("u", "p:q")


def test_context_is_the_one_that_is_used(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps(kubeconfig(server, {"token": "mine"})), encoding="utf-8")
    options = {"kubeconfig": str(file)}
    assert context_of(options) == "mine"
    assert context_of({**options, "context": "others"}) == "others"
    assert context_of(options, {"K8S_AUTH_CONTEXT": "others"}) == "others"
    assert context_of({"kubeconfig": kubeconfig(server, {}, "")}) == ""
    # nothing of it is used
    assert context_of({**options, "context": "others", "host": server.url, "api_key": "k"}) == ""
    assert context_of({"kubeconfig": str(tmp_path / "none")}) == ""


def test_host_and_client_certificate_are_sufficient(server: Server, tmp_path: Path) -> None:
    files = {name: str(tmp_path / name) for name in ("client_cert", "client_key")}
    for path in files.values():
        Path(path).write_text("", encoding="utf-8")
    assert "authorization" not in sent_request(server, {"host": server.url, **files}).headers


def test_credentials_in_the_address(server: Server) -> None:
    host = server.url.replace("http://", "http://a%40b:secret@")
    api = connect({"host": host, "api_key": ""} | {"kubeconfig": kubeconfig(server, {})})
    assert api.server == server.url
    assert api.headers()["authorization"] == basic("a@b", "secret")[0]


def test_path_of_the_address_is_kept(server: Server) -> None:
    assert sent_request(server, {"host": f"{server.url}/k8s/clusters/c/", "api_key": "k"}).path.startswith(
        "/k8s/clusters/c/api/"
    )
    assert sent_request(server, {"host": f"{server.url}/u/me@example.com", "api_key": "k"}).path.startswith(
        "/u/me@example.com/api/"
    )


def test_token_file_may_end_with_a_newline(server: Server, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("k\n", encoding="utf-8")
    document = kubeconfig(server, {"tokenFile": str(tmp_path / "token")})
    assert sent_request(server, {"kubeconfig": document}).headers["authorization"] == ["Bearer k"]


def test_invalid_token_is_not_quoted(server: Server) -> None:
    with pytest.raises(KubernetesError, match="Set the kubeconfig's token") as raised:
        sent_request(server, {"kubeconfig": kubeconfig(server, {"token": "a\ns3cret"})})
    assert "s3cret" not in str(raised.value)


def test_variable_with_a_path_in_the_home_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "ca.pem").write_bytes(make(tmp_path, "ca").certificate_file.read_bytes())
    connect({"host": UNREACHABLE, "api_key": "k"}, {"K8S_AUTH_SSL_CA_CERT": "~/ca.pem"})


FORMS: list[Callable[[dict[str, Any], Path], Any]] = [
    lambda document, _directory: document,
    lambda document, directory: written(document, directory / "config"),
    lambda document, directory: written(document, directory / "home") and "~/home",
]


def written(document: dict[str, Any], path: Path) -> str:
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("form", FORMS, ids=["mapping", "path", "path in the home directory"])
def test_forms_of_a_kubeconfig(server: Server, tmp_path: Path, form: Callable[[dict[str, Any], Path], Any]) -> None:
    config = form(kubeconfig(server, {"token": "of-me"}), tmp_path)
    assert sent_request(server, {"kubeconfig": config}).headers["authorization"] == ["Bearer of-me"]
    assert sent_request(server, {"kubeconfig": config, "context": "others"}).headers["authorization"] == [
        "Bearer of-other"
    ]


def test_options_take_precedence_over_the_kubeconfig(server: Server) -> None:
    other = kubeconfig(server, {"token": "of-me"})
    other["clusters"][0]["cluster"]["server"] = UNREACHABLE
    found = sent_request(server, {"kubeconfig": other, "host": server.url, "impersonate_user": "u"})
    assert found.headers["authorization"] == ["Bearer of-me"]


def test_environment_takes_precedence_over_the_kubeconfig(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K8S_AUTH_CONTEXT", "others")
    found = sent_request(server, {"kubeconfig": kubeconfig(server, {"token": "of-me"})})
    assert found.headers["authorization"] == ["Bearer of-other"]


def test_impersonation_with_all_groups(server: Server) -> None:
    options = {"impersonate_user": "jane", "impersonate_groups": ["a", "b,c"]}
    headers = sent_request(server, {"host": server.url, "api_key": "k", **options}).headers
    assert headers["impersonate-user"] == ["jane"]
    assert headers["impersonate-group"] == ["a", "b,c"]


def test_no_impersonation_by_default(server: Server) -> None:
    headers = sent_request(server, {"host": server.url, "api_key": "k"}).headers
    assert not [name for name in headers if name.startswith("impersonate")]


def test_token_from_an_exec_plugin(server: Server, tmp_path: Path) -> None:
    version = "client.authentication.k8s.io/v1"
    response = {"apiVersion": version, "kind": "ExecCredential", "status": {"token": "of-plugin"}}
    plugin = tmp_path / "plugin"
    plugin.write_text(f"#!/bin/sh\necho '{json.dumps(response)}'\n", encoding="utf-8")
    plugin.chmod(0o700)
    user = {"exec": {"apiVersion": version, "command": str(plugin), "interactiveMode": "Never"}}
    found = sent_request(server, {"kubeconfig": kubeconfig(server, user)})
    assert found.headers["authorization"] == ["Bearer of-plugin"]


@pytest.fixture
def proxy() -> Iterator[Server]:
    """Run a server as the proxy; it responds in place of the API server."""
    with serving() as running:
        yield running


PROXY_HEADERS = {"proxy_basic_auth": "u:p", "user_agent": "me"}


def test_http_requests_are_sent_to_the_proxy(proxy: Server) -> None:
    options = {"proxy": proxy.url, "proxy_headers": PROXY_HEADERS}
    found = sent_request(proxy, {"host": "http://kubernetes.example.com", "api_key": "k", **options})
    assert (found.method, found.path) == ("GET", "http://kubernetes.example.com/api/v1/namespaces/n")
    assert found.headers["proxy-authorization"] == basic("u", "p")


def test_https_proxy_gets_only_its_own_credentials(proxy: Server) -> None:
    proxy.responses = [Response(407)]
    options = {"proxy": proxy.url, "proxy_headers": PROXY_HEADERS}
    with pytest.raises(Unreachable, match="407"):
        sent_request(proxy, {"host": "https://kubernetes.example.com", "api_key": "k", **options})
    found = proxy.requests[-1]
    assert (found.method, found.path) == ("CONNECT", "kubernetes.example.com:443")
    assert found.headers["proxy-authorization"] == basic("u", "p")
    assert found.headers["user-agent"] == ["me"]
    assert "authorization" not in found.headers


@pytest.mark.parametrize(("no_proxy", "is_bypassed"), [("127.0.0.1", True), ("192.0.2.1", False), (None, False)])
def test_no_proxy(server: Server, proxy: Server, no_proxy: str | None, is_bypassed: bool) -> None:
    options = {"proxy": proxy.url, "no_proxy": no_proxy}
    sent_request(server if is_bypassed else proxy, {"host": server.url, "api_key": "k", **options})
    assert (len(server.requests), len(proxy.requests)) == ((1, 0) if is_bypassed else (0, 1))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return make(tmp_path_factory.mktemp("certificates"), "authority")


@pytest.fixture(scope="module")
def certificate(authority: Pair) -> Pair:
    return make(authority.certificate_file.parent, "server", authority)


@pytest.fixture
def tls_server(certificate: Pair) -> Iterator[Server]:
    with serving(certificate.server()) as running:
        yield running


def test_only_the_specified_ca_is_trusted(tls_server: Server, authority: Pair, tmp_path: Path) -> None:
    options = {"host": tls_server.url, "api_key": "k"}
    for untrusted in ({}, {"ca_cert": str(make(tmp_path, "other").certificate_file)}):
        with pytest.raises(Unreachable, match=r"certificate cannot be verified: set ca_cert \(K8S_AUTH_SSL_CA_CERT\)"):
            sent_request(tls_server, {**options, **untrusted})
    assert tls_server.requests == []
    found = sent_request(tls_server, {**options, "ca_cert": str(authority.certificate_file)})
    assert found.headers["authorization"] == ["Bearer k"]


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_validate_certs_disables_verification(tls_server: Server) -> None:
    found = sent_request(tls_server, {"host": tls_server.url, "api_key": "k", "validate_certs": False})
    assert found.headers["authorization"] == ["Bearer k"]


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_tls_options_take_precedence_over_the_kubeconfig(tls_server: Server) -> None:
    config = kubeconfig(tls_server, {"token": "of-me"})
    found = sent_request(tls_server, {"kubeconfig": config, "validate_certs": False})
    assert found.headers["authorization"] == ["Bearer of-me"]


def test_client_certificate_is_sent(certificate: Pair, authority: Pair, tmp_path: Path) -> None:
    me = make(tmp_path, "me", authority)
    files = {"client_cert": str(me.certificate_file), "client_key": str(me.key_file)}
    with serving(certificate.server(clients_of=authority)) as server:
        trusted = {"host": server.url, "ca_cert": str(authority.certificate_file)}
        with pytest.raises(Unreachable):
            sent_request(server, {**trusted, "api_key": "k"})
        assert server.requests == []
        assert "authorization" not in sent_request(server, {**trusted, **files}).headers


def test_no_file_with_a_private_key_remains(
    certificate: Pair, authority: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not while it is connected either: a run may be killed."""
    me = make(tmp_path, "me", authority)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    data = {"client-certificate-data": me.certificate_file, "client-key-data": me.key_file}
    with serving(certificate.server(clients_of=authority)) as server:
        provided = kubeconfig(server, {name: _encoded(file) for name, file in data.items()})
        provided["clusters"][0]["cluster"]["certificate-authority-data"] = _encoded(authority.certificate_file)
        # twice, as for a cache and an API server
        for _each in range(2):
            api = connect({"kubeconfig": provided}, {})
            assert [*(tmp_path / "temporary").iterdir()] == []
            server.responses = [Response(body={}), Response(body={})]
            api.get("ConfigMap", "ns", "n")
            # another connection
            api.transport.clear()  # type: ignore[attr-defined]
            api.get("ConfigMap", "ns", "n")
    assert len(server.requests) == 4
    assert [*(tmp_path / "temporary").iterdir()] == []


def _encoded(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()
