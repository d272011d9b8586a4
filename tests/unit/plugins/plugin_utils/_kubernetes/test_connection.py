# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of kubernetes.core have the same effect here."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import connection
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import connect
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection_options import (
    argument_spec,
    with_environment,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError, Unreachable
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.certificates import Pair, encrypted, make
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import (
    Request,
    Response,
    Server,
    serving,
)

UNREACHABLE = "https://192.0.2.1"


def kubernetes_core() -> Any:
    """Return the module of the installed kubernetes.core that has its options."""
    module_path = Path("ansible_collections/kubernetes/core/plugins/module_utils/args_common.py")
    parents = [str(parent) for parent in Path(connection.__file__).parents]
    roots = [*os.environ.get("ANSIBLE_COLLECTIONS_PATH", "").split(":"), *sys.path, *parents]
    [path, *_others] = [Path(root) / module_path for root in roots if root and (Path(root) / module_path).is_file()]
    specification = importlib.util.spec_from_file_location("args_common", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def complete(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the spec with Ansible's defaults, and without no_log."""
    visible = {name: {key: option[key] for key in option if key != "no_log"} for name, option in spec.items()}
    return {name: {"type": "str", **_options(option)} for name, option in visible.items()}


def _options(option: dict[str, Any]) -> dict[str, Any]:
    return {**option, "options": complete(option["options"])} if "options" in option else option


def secrets(spec: dict[str, Any]) -> set[str]:
    """Return the names of the options with no_log."""
    deeper = {name for option in spec.values() for name in secrets(option.get("options", {}))}
    return deeper | {name for name, option in spec.items() if option.get("no_log")}


def test_options_match_kubernetes_core() -> None:
    assert complete(argument_spec()) == complete(kubernetes_core().AUTH_ARG_SPEC)


def test_no_log_options_include_those_of_kubernetes_core() -> None:
    # older versions of it have a kubeconfig without no_log
    assert secrets(argument_spec()) == secrets(kubernetes_core().AUTH_ARG_SPEC) | {"kubeconfig"}


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the configuration of this machine: kubeconfig, environment variables, service account."""
    for name in list(os.environ):
        if name.startswith(("K8S_AUTH_", "KUBERNETES_", "KUBECONFIG")) or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "none"))


# (option, variable, value, expected option)
VARIABLES: list[tuple[str, str, str, Any]] = [
    ("kubeconfig", "K8S_AUTH_KUBECONFIG", "/a", "/a"),
    ("context", "K8S_AUTH_CONTEXT", "c", "c"),
    ("host", "K8S_AUTH_HOST", UNREACHABLE, UNREACHABLE),
    ("api_key", "K8S_AUTH_API_KEY", "k", "k"),
    ("username", "K8S_AUTH_USERNAME", "u", "u"),
    ("password", "K8S_AUTH_PASSWORD", "p", "p"),
    ("validate_certs", "K8S_AUTH_VERIFY_SSL", "no", False),
    ("validate_certs", "K8S_AUTH_VALIDATE_CERTS", "False", False),
    ("validate_certs", "K8S_AUTH_VERIFY_SSL", "0", False),
    ("validate_certs", "K8S_AUTH_VERIFY_SSL", "yes", True),
    ("ca_cert", "K8S_AUTH_SSL_CA_CERT", "/a", "/a"),
    ("ca_cert", "K8S_AUTH_CA_CERT", "/a", "/a"),
    ("client_cert", "K8S_AUTH_CERT_FILE", "/a", "/a"),
    ("client_key", "K8S_AUTH_KEY_FILE", "/a", "/a"),
    ("proxy", "K8S_AUTH_PROXY", "http://proxy.example.com", "http://proxy.example.com"),
    ("no_proxy", "K8S_AUTH_NO_PROXY", "localhost", "localhost"),
    ("persist_config", "K8S_AUTH_PERSIST_CONFIG", "true", True),
    ("impersonate_user", "K8S_AUTH_IMPERSONATE_USER", "u", "u"),
    ("impersonate_groups", "K8S_AUTH_IMPERSONATE_GROUPS", "a,,b", ["a", "b"]),
    ("proxy_headers", "K8S_AUTH_PROXY_HEADERS_USER_AGENT", "me", {"user_agent": "me"}),
    ("proxy_headers", "K8S_AUTH_PROXY_HEADERS_PROXY_BASIC_AUTH", "a:b", {"proxy_basic_auth": "a:b"}),
]


@pytest.mark.parametrize(("option", "variable", "value", "expected"), VARIABLES)
def test_option_from_the_environment(option: str, variable: str, value: str, expected: Any) -> None:
    assert with_environment({}, {variable: value})[option] == expected
    assert with_environment({option: None}, {variable: value})[option] == expected


@pytest.mark.parametrize(("option", "variable", "value"), [row[:3] for row in VARIABLES])
def test_option_takes_precedence_over_the_environment(option: str, variable: str, value: str) -> None:
    specified: Any = {"user_agent": "x", "proxy_basic_auth": "y"} if option == "proxy_headers" else "specified"
    assert with_environment({option: specified}, {variable: value})[option] == specified


def test_false_option_takes_precedence_over_the_environment() -> None:
    assert with_environment({"validate_certs": False}, {"K8S_AUTH_VERIFY_SSL": "yes"})["validate_certs"] is False


def test_empty_variable_is_ignored() -> None:
    assert with_environment({}, {"K8S_AUTH_HOST": ""}) == {"proxy_headers": {}}


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
    lambda document, directory: _written(document, directory / "config"),
    lambda document, directory: _written(document, directory / "home") and "~/home",
]


def _written(document: dict[str, Any], path: Path) -> str:
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


INCOMPLETE: list[dict[str, Any]] = [
    {},
    {"kubeconfig": "/does/not/exist"},
    {"kubeconfig": {"apiVersion": "v1", "kind": "Config"}},
    {"kubeconfig": {}, "context": "none"},
    {"context": "none"},
    {"host": UNREACHABLE},
]


@pytest.mark.parametrize("options", INCOMPLETE)
def test_missing_connection_options(options: dict[str, Any]) -> None:
    with pytest.raises(
        KubernetesError, match=r"^Cannot connect to a Kubernetes cluster: .*Set kubeconfig \(K8S_AUTH_KUBECONFIG\)"
    ):
        connect(options)


@pytest.mark.parametrize("text", ["{not: [yaml", "- a\n- list", "text", "a: \x00"])
def test_invalid_kubeconfig(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(KubernetesError, match=r"^Cannot connect to a Kubernetes cluster: "):
        connect({"kubeconfig": str(path)})


# (changes of a kubeconfig with the contexts a and b, option, message)
CONTEXTS: list[tuple[dict[str, Any], str | None, str]] = [
    (
        {},
        "c",
        r"context \(K8S_AUTH_CONTEXT\) is c, but .* has no context of that name; its contexts are: a, b\. Set",
    ),
    ({"contexts": []}, "c", "no context of that name; it has no contexts"),
    ({"contexts": None}, "c", "no context of that name; it has no contexts"),
    (
        {"current-context": "c"},
        None,
        "kubeconfig's current-context c is not one of its contexts; its contexts are: a, b",
    ),
    ({"current-context": ""}, None, "the kubeconfig has no current-context; its contexts are: a, b"),
    ({"contexts": [{}]}, "c", "."),
]


@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize(("changes", "context", "message"), CONTEXTS)
def test_missing_context_is_named_with_the_existing_ones(
    tmp_path: Path, changes: dict[str, Any], context: str | None, message: str, is_file: bool
) -> None:
    document = {
        "current-context": "a",
        "clusters": [{"name": "k", "cluster": {"server": UNREACHABLE}}],
        "users": [{"name": "k", "user": {"token": "k"}}],
        "contexts": [{"name": name, "context": {"cluster": "k", "user": "k"}} for name in ("a", "b")],
        **changes,
    }
    config = _written(document, tmp_path / "config") if is_file else document
    with pytest.raises(KubernetesError, match=f"^Cannot connect to a Kubernetes cluster: .*{message}") as raised:
        connect({"kubeconfig": config, "context": context})
    assert not is_file or str(config) in str(raised.value)


PROXY = r"proxy \(K8S_AUTH_PROXY\), or the kubeconfig's proxy-url"
ADDRESS = r"host \(K8S_AUTH_HOST\), or the kubeconfig's server"
AUTHORITY = r"ca_cert \(K8S_AUTH_SSL_CA_CERT\), or the kubeconfig's certificate-authority"
CLIENT = r"client_cert \(K8S_AUTH_CERT_FILE\) and client_key \(K8S_AUTH_KEY_FILE\)"
JUNK = "junk.pem"
# (options, option named in the message)
UNUSABLE: list[tuple[dict[str, Any], str]] = [
    ({"proxy": "proxy.example.com:3128"}, PROXY),
    ({"proxy": "u:s3cret@proxy.example.com:3128"}, PROXY),
    ({"proxy": "socks5://u:s3cret@proxy.example.com"}, PROXY),
    ({"proxy": "ftp://u:s3cret@proxy.example.com"}, PROXY),
    ({"proxy": "http://u:s3cret@[::1"}, PROXY),
    ({"proxy": "http://u:s3cret@proxy.example.com:99999"}, PROXY),
    ({"host": "https://u:s3cret@[::1"}, ADDRESS),
    ({"host": "https://u:s3cret@[::1", "proxy": "http://proxy.example.com"}, ADDRESS),
    ({"host": "https://u:s3cret@\u2100"}, ADDRESS),
    ({"host": "https://u:a/s3cret@kubernetes.example.com"}, ADDRESS),
    ({"host": "https://u:a?s3cret@kubernetes.example.com"}, ADDRESS),
    ({"api_key": "s3cret\n"}, "api_key to a string without"),
    ({"username": "u", "password": "s3cret\u2028"}, "password to a string without"),
    ({"impersonate_user": "s3cret\r\nA: b"}, "impersonate_user to a string without"),
    ({"impersonate_groups": ["a", "s3cret\0"]}, "impersonate_groups to a string without"),
    ({"proxy_headers": {"user_agent": "s3cret\n"}}, "proxy_headers to a string without"),
    ({"ca_cert": "/nonexistent"}, AUTHORITY),
    ({"ca_cert": JUNK}, AUTHORITY),
    ({"ca_cert": JUNK, "validate_certs": False}, AUTHORITY),
    ({"client_cert": "/nonexistent", "client_key": JUNK}, CLIENT),
    ({"client_cert": JUNK, "client_key": JUNK}, CLIENT),
    ({"client_cert": JUNK}, CLIENT),
]


@pytest.fixture
def junk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file in the current directory that is not a certificate."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / JUNK
    path.write_text("junk", encoding="utf-8")
    return path


@pytest.mark.usefixtures("junk")
@pytest.mark.filterwarnings("ignore:SOCKS support in urllib3")
@pytest.mark.parametrize(("options", "named"), UNUSABLE)
def test_invalid_option_is_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises(KubernetesError, match=f"^Cannot connect to a Kubernetes cluster: .*Set {named}") as raised:
        connect({"host": UNREACHABLE, "api_key": "k", **options})
    files = [value for value in options.values() if value in (JUNK, "/nonexistent")]
    assert [file for file in files if file not in str(raised.value)] == []
    assert "s3cret" not in f"{raised.value} {raised.value.__cause__}"


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:6443",
        "a-token-s3cret",
        "ftp://localhost",
        "//u:s3cret@localhost:6443",
        "u:s3cret@localhost:6443",
    ],
)
def test_missing_scheme(host: str) -> None:
    for options in ({"host": host, "api_key": "k"}, {"kubeconfig": with_server(host)}):
        with pytest.raises(
            KubernetesError, match=f"the address of its API must start with https://.* Set {ADDRESS}"
        ) as raised:
            connect(options)
        assert "s3cret" not in str(raised.value)


def with_server(host: str) -> dict[str, Any]:
    return {
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": host}}],
        "users": [{"name": "c", "user": {"token": "k"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
    }


def test_encrypted_key_causes_no_password_prompt(tmp_path: Path) -> None:
    pair = make(tmp_path, "me")
    files = {"client_cert": str(pair.certificate_file), "client_key": str(encrypted(pair, b"s3cret"))}
    with pytest.raises(KubernetesError, match=f"Set {CLIENT}"):
        connect({"host": UNREACHABLE, **files})


@pytest.mark.parametrize(
    ("cluster", "named"),
    [
        ({"certificate-authority": JUNK}, AUTHORITY),
        ({"certificate-authority-data": "anVuaw=="}, AUTHORITY),
        ({"server": "https://u:s3cret@[::1"}, "(host|kubeconfig)"),
    ],
)
def test_invalid_field_of_a_kubeconfig_is_named(junk: Path, cluster: dict[str, str], named: str) -> None:
    document = {
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": UNREACHABLE, **cluster}}],
        "users": [{"name": "c", "user": {"token": "k"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
    }
    with pytest.raises(KubernetesError, match=f"^Cannot connect to a Kubernetes cluster: .*Set {named}") as raised:
        connect({"kubeconfig": _written(document, junk.parent / "config")})
    assert "s3cret" not in str(raised.value)
