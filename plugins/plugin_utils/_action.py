# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the actions that make a reconcile have in common: the only code here that knows Ansible."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from ansible.errors import AnsibleFileNotFound
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.druidops.druid.plugins.plugin_utils._connection import connect
from ansible_collections.druidops.druid.plugins.plugin_utils._first_look import look_first
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._log_line import log_line
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_meter import Meter

display = Display()

_Outcome = TypeVar("_Outcome")


class ReconcileAction(ActionBase):
    """Reads, decides and writes where the playbook runs: bodies of objects never travel through Ansible."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def find_file(self, path: str) -> str:
        """Return the real path of a file beside the playbook or role, or else where ansible-playbook was started."""
        try:
            return str(self._loader.path_dwim_relative_stack(self._task.get_search_path(), "files", path))
        except AnsibleFileNotFound:
            if not os.path.exists(path):
                raise
            return os.path.abspath(path)


def attempt(arguments: Mapping[str, Any], fulfilled: Callable[[KubernetesApi], _Outcome], meter: Meter) -> _Outcome:
    """Return what came of it on the API server, for the operator after a first look at its cache."""
    if not arguments["cache_kubeconfig"]:
        return fulfilled(meter.of_server(connect(arguments)))
    # What ansible-operator has put into the environment is the way to the cache.
    direct = connect(arguments, {name: os.environ[name] for name in os.environ if name != "K8S_AUTH_KUBECONFIG"})
    cache = connect({"kubeconfig": arguments["cache_kubeconfig"]}, {})
    return look_first(meter.of_cache(cache), meter.of_server(direct), fulfilled)


def log(kind: str, arguments: Mapping[str, Any], returned: Mapping[str, Any], seconds: float) -> None:
    """Add the line of this pass to the log; one that cannot be written is no reason to fail."""
    named = {name: arguments[name] for name in ("name", "namespace")}
    line = log_line(kind, {**named, **returned}, seconds, datetime.now(UTC))
    try:
        with open(arguments["log"], "a", encoding="utf-8") as file:
            file.write(f"{line}\n")
    except OSError as error:
        display.warning(f"The log {arguments['log']} cannot be written: {error}")


def progress(name: str, text: str) -> None:
    """Print how far it is."""
    display.display(f"{name}: {text}")
