# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The authentication options of kubernetes.core: same names, same environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

_PROXY_HEADERS = ("proxy_basic_auth", "basic_auth", "user_agent")


class Option(NamedTuple):
    """An option of a task: its type, its alias (also of the environment variable), the attribute that it configures."""

    type: str = "str"
    alias: str | None = None
    attribute: str | None = None
    is_secret: bool = False


OPTIONS: Mapping[str, Option] = {
    "kubeconfig": Option("raw", is_secret=True),
    "context": Option(),
    "host": Option(attribute="host"),
    "api_key": Option(is_secret=True),
    "username": Option(),
    "password": Option(is_secret=True),
    "validate_certs": Option("bool", "verify_ssl", "verify_ssl"),
    "ca_cert": Option("path", "ssl_ca_cert", "ssl_ca_cert"),
    "client_cert": Option("path", "cert_file", "cert_file"),
    "client_key": Option("path", "key_file", "key_file"),
    "proxy": Option(attribute="proxy"),
    "no_proxy": Option(attribute="no_proxy"),
    "persist_config": Option("bool"),
    "impersonate_user": Option(),
    "impersonate_groups": Option("list"),
}


def argument_spec() -> dict[str, Any]:
    """Return the argument spec of the doc fragment kubernetes.core.k8s_auth_options."""
    spec: dict[str, Any] = {name: _argument(option) for name, option in OPTIONS.items()}
    headers = {name: {"type": "str", "no_log": name != "user_agent"} for name in _PROXY_HEADERS}
    return {**spec, "proxy_headers": {"type": "dict", "options": headers}}


def _argument(option: Option) -> dict[str, Any]:
    argument: dict[str, Any] = {"type": option.type, "no_log": option.is_secret}
    if option.type == "list":
        argument["elements"] = "str"
    if option.alias:
        argument["aliases"] = [option.alias]
    return argument


def with_environment(options: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the options; unset ones have the value of K8S_AUTH_* if that is set."""
    settled = dict(options)
    for name, option in OPTIONS.items():
        candidates = [f"K8S_AUTH_{each.upper()}" for each in (option.alias, name) if each]
        value = next((environment[each] for each in candidates if environment.get(each)), None)
        if settled.get(name) is None and value is not None:
            settled[name] = _typed(value, option.type)
    headers = {name: environment.get(f"K8S_AUTH_PROXY_HEADERS_{name.upper()}") for name in _PROXY_HEADERS}
    specified = options.get("proxy_headers") or {}
    settled["proxy_headers"] = {name: value for name in headers if (value := specified.get(name) or headers[name])}
    return settled


def _typed(value: str, kind: str) -> Any:
    if kind == "path":
        return os.path.expanduser(os.path.expandvars(value))
    if kind == "bool":
        return value.lower() not in {"0", "false", "no"}
    if kind == "list":
        return [each for each in value.split(",") if each]
    return value
