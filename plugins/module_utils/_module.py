# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What every module that speaks HTTP with Druid has: the options of the connection, and how an error ends it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule, missing_required_lib
from ansible.module_utils.common.parameters import env_fallback
from ansible_collections.druidops.druid.plugins.module_utils._client import MISSING, Connection, DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._errors import BadInput, DruidError, Incomplete
from ansible_collections.druidops.druid.plugins.module_utils._spec.text import mapping_of
from ansible_collections.druidops.druid.plugins.module_utils._spec_masking import masked, masker_of

# Documented in the doc fragment druidops.druid.connection.
CONNECTION: dict[str, dict[str, Any]] = {
    # Needed as well. Ansible would say no more than that it is missing, and nothing of the environment.
    "url": {"type": "list", "elements": "str", "fallback": (env_fallback, ["DRUID_URL"])},
    "username": {"type": "str", "fallback": (env_fallback, ["DRUID_USERNAME"])},
    "password": {"type": "str", "no_log": True, "fallback": (env_fallback, ["DRUID_PASSWORD"])},
    "token": {"type": "str", "no_log": True, "fallback": (env_fallback, ["DRUID_TOKEN"])},
    "ca_path": {"type": "path", "aliases": ["ca_cert"], "fallback": (env_fallback, ["DRUID_CA_PATH"])},
    "client_cert": {"type": "path", "fallback": (env_fallback, ["DRUID_CLIENT_CERT"])},
    "client_key": {"type": "path", "no_log": False, "fallback": (env_fallback, ["DRUID_CLIENT_KEY"])},
    "validate_certs": {"type": "bool", "default": True, "fallback": (env_fallback, ["DRUID_VALIDATE_CERTS"])},
    "connect_timeout": {"type": "float", "default": 5.0, "fallback": (env_fallback, ["DRUID_CONNECT_TIMEOUT"])},
    "read_timeout": {"type": "float", "default": 120.0, "fallback": (env_fallback, ["DRUID_READ_TIMEOUT"])},
    "retry_timeout": {"type": "float", "default": 30.0, "fallback": (env_fallback, ["DRUID_RETRY_TIMEOUT"])},
}


def connection(params: Mapping[str, Any]) -> Connection:
    """Return the connection that a module's parameters describe; BadInput names the option that is wrong."""
    return Connection(
        urls=tuple(params["url"] or ()),
        username=params["username"],
        password=params["password"],
        token=params["token"],
        ca_file=params["ca_path"],
        client_cert=params["client_cert"],
        client_key=params["client_key"],
        verify=params["validate_certs"],
        connect_timeout=params["connect_timeout"],
        read_timeout=params["read_timeout"],
        retry_timeout=params["retry_timeout"],
    )


def client(params: Mapping[str, Any]) -> DruidClient:
    """Return a client for a module's parameters. Nothing is sent yet."""
    return DruidClient(connection(params))


def run(module: AnsibleModule, work: Callable[[DruidClient], Mapping[str, Any]]) -> None:
    """End the module with the result of ``work``, or with the words of the error that it raised.

    An option that may hold secrets somewhere (a specification) is marked ``no_log``, which keeps it out of the log of
    the system. What Ansible then hides in the result are the secrets, not every word that is in that option.
    """
    if MISSING is not None:
        module.fail_json(msg=f"{missing_required_lib('requests')} ({sys.executable}: {MISSING})")
    stated = _structured(module.params)
    module.no_log_values = set(_secrets(stated))
    invocation = {"module_args": masked(stated)}
    result, problem = _done(module, work)
    for warning in result.pop("warnings", ()):
        module.warn(warning)
    if problem:
        module.fail_json(msg=problem, invocation=invocation, **result)
    module.exit_json(invocation=invocation, **result)


def _done(module: AnsibleModule, work: Callable[[DruidClient], Mapping[str, Any]]) -> tuple[dict[str, Any], str]:
    """Return the result of the work and what went wrong: where it is told no traceback hangs on it."""
    try:
        with client(module.params) as druid:
            return dict(work(druid)), ""
    except Incomplete as error:
        return dict(error.result), str(error)
    except DruidError as error:
        return {}, str(error)


def _secrets(params: Mapping[str, Any]) -> Iterator[str]:
    yield from (params[name] for name in ("password", "token") if params[name])
    yield from masker_of([params]).secrets


def _structured(params: Any) -> Any:
    """Return the parameters with specifications that are texts as what they say: there secrets can be told by name."""
    if isinstance(params, Mapping):
        return {name: _spec(value) if name == "spec" else _structured(value) for name, value in params.items()}
    return [_structured(element) for element in params] if isinstance(params, list) else params


def _spec(stated: Any) -> Any:
    try:
        return mapping_of(stated, "spec") if isinstance(stated, str) else stated
    except BadInput as error:
        return str(error)
