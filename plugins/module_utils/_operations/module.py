# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What all modules that connect to Druid share: the connection options and the error handling."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule, missing_required_lib
from ansible_collections.druidops.druid.plugins.module_utils._http.client import MISSING, Connection, DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.documents import structured
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import masked, masker_of
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, PartialFailure


def connection(params: Mapping[str, Any]) -> Connection:
    """Return the connection that a module's parameters describe. InvalidInput names the invalid option."""
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
        quotes_errors=True,
    )


def client(params: Mapping[str, Any]) -> DruidClient:
    """Return a client for a module's parameters, without connecting."""
    return DruidClient(connection(params))


def run(module: AnsibleModule, work: Callable[[DruidClient], Mapping[str, Any]]) -> None:
    """Exit the module with the result of ``work``, or fail with the message of the error that it raised.

    Options that may contain secrets (documents) are marked ``no_log``, which keeps them out of the system log.
    In the result, Ansible then hides only the secrets, not every value of these options.
    """
    if MISSING is not None:
        module.fail_json(msg=f"{missing_required_lib('requests')} ({sys.executable}: {MISSING})")
    specified = structured(module.params)
    module.no_log_values = set(_secrets(specified))
    invocation = {"module_args": masked(specified)}
    result, problem = _perform(module, work)
    for warning in result.pop("warnings", ()):
        module.warn(warning)
    if problem:
        module.fail_json(msg=problem, invocation=invocation, **result)
    module.exit_json(invocation=invocation, **result)


def _perform(module: AnsibleModule, work: Callable[[DruidClient], Mapping[str, Any]]) -> tuple[dict[str, Any], str]:
    """Return the result and the error message. Failing outside of the except clause avoids a traceback."""
    try:
        with client(module.params) as druid:
            return dict(work(druid)), ""
    except PartialFailure as error:
        return dict(error.result), str(error)
    except DruidError as error:
        return {}, str(error)


def _secrets(params: Mapping[str, Any]) -> Iterator[str]:
    yield from (params[name] for name in ("password", "token") if params[name])
    yield from masker_of([params]).secrets
