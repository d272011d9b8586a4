# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The message of an unusable connection names the option, and no secret."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import connect
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.certificates import encrypted, make
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._kubernetes.test_connection import (
    UNREACHABLE,
    written,
)

pytestmark = pytest.mark.usefixtures("clean_environment")

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
    config = written(document, tmp_path / "config") if is_file else document
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
        connect({"kubeconfig": written(document, junk.parent / "config")})
    assert "s3cret" not in str(raised.value)
