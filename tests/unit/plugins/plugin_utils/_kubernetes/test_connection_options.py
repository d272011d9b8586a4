# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of kubernetes.core, and the variables that set them."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import connection
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import (
    argument_spec,
    with_environment,
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
