# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the modules on Druid's API do, without starting ansible-playbook: for tests of many cases."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import Connection, DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.request import is_read
from ansible_collections.druidops.druid.plugins.module_utils._operations.compaction import ensure_compaction
from ansible_collections.druidops.druid.plugins.module_utils._operations.datasource import ensure_datasource
from ansible_collections.druidops.druid.plugins.module_utils._operations.dynamic_config import ensure_configs
from ansible_collections.druidops.druid.plugins.module_utils._operations.lookup import ensure_lookup
from ansible_collections.druidops.druid.plugins.module_utils._operations.retention_rules import ensure_rules
from ansible_collections.druidops.druid.plugins.module_utils._operations.supervisor import ensure_supervisor
from ansible_collections.druidops.druid.plugins.module_utils._operations.task import ensure_query, ensure_task
from testbed.druid.druid import Druid
from testbed.proxy import Upstream
from testbed.recording_proxy import RecordingProxy, recording_proxy

_SUPERVISOR: dict[str, Any] = {
    "id": None,
    "spec": None,
    "state": "present",
    "suspended": None,
    "orphaned_tasks": "shut_down",
    "reset": False,
    "reset_offsets": None,
    "supervisors": None,
    "wait": False,
    "wait_for": None,
    "wait_timeout": 120.0,
}
_TASK: dict[str, Any] = {
    "unknown_fields": "warn",
    "tasks": None,
    "id": None,
    "spec": None,
    "state": "present",
    "retry": False,
    "wait": False,
    "wait_timeout": 120.0,
}
_QUERY: dict[str, Any] = {**_TASK, "queries": None, "query": None, "context": None, "parameters": None}
_AUDIT: dict[str, Any] = {"author": None, "comment": None, "unknown_fields": "warn"}
_COMPACTION: dict[str, Any] = {"datasource": None, "config": None, "state": "present", "compactions": None, **_AUDIT}
_RULES: dict[str, Any] = {"datasource": None, "rules": None, "state": "present", "retention_rules": None, **_AUDIT}
_LOOKUP: dict[str, Any] = {
    "id": None,
    "tier": "__default",
    "spec": None,
    "custom_type": False,
    "state": "present",
    "lookups": None,
    "wait": False,
    "wait_timeout": 120.0,
    **_AUDIT,
}
_DATASOURCE: dict[str, Any] = {
    "datasource": None,
    "interval": None,
    "used_segments": "fail",
    "state": None,
    "datasources": None,
    "wait": False,
    "wait_timeout": 120.0,
    **_AUDIT,
}
_CONFIGS = dict.fromkeys(("coordinator", "overlord", "kubernetes_task_runner", "broker", "compaction"))


@contextmanager
def supervisor_name(druid: Druid) -> Iterator[str]:
    """Yield a new name; no supervisor that has it in its id outlives the block."""
    name = f"t{secrets.token_hex(4)}"
    try:
        yield name
    finally:
        for supervisor in druid.request("GET", "/druid/indexer/v1/supervisor"):
            if name in supervisor:
                druid.request("POST", f"/druid/indexer/v1/supervisor/{supervisor}/terminate")
        druid.remove_datasource(name)


@dataclass(frozen=True)
class Direct:
    """Runs the logic of modules with one Druid, through a proxy that counts requests and injects failures."""

    druid: Druid
    proxy: RecordingProxy
    client: DruidClient

    def supervisor(self, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """Return the result of the module supervisor."""
        return self._call(ensure_supervisor, {**_SUPERVISOR, **params}, check_mode)

    def task(self, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """Return the result of the module task."""
        return self._call(ensure_task, {**_TASK, **params}, check_mode)

    def query(self, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """Return the result of the module sql_ingest."""
        return self._call(ensure_query, {**_QUERY, **params}, check_mode)

    def compaction(self, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """Return the result of the module compaction."""
        return self._call(ensure_compaction, {**_COMPACTION, **params}, check_mode)

    def retention_rules(self, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """Return the result of the module retention_rules."""
        return self._call(ensure_rules, {**_RULES, **params}, check_mode)

    def lookup(self, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """Return the result of the module lookup."""
        return self._call(ensure_lookup, {**_LOOKUP, **params}, check_mode)

    def datasource(self, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """Return the result of the module datasource."""
        return self._call(ensure_datasource, {**_DATASOURCE, **params}, check_mode)

    def dynamic_config(self, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """Return the result of the module dynamic_config."""
        return self._call(ensure_configs, {**_CONFIGS, **_AUDIT, **params}, check_mode)

    def _call(
        self, ensure: Callable[..., dict[str, Any]], params: Mapping[str, Any], check_mode: bool
    ) -> dict[str, Any]:
        """Return the result. ``changed`` is true exactly if a write was sent, and in check mode none is."""
        self.proxy.forget()
        result = ensure(self.client, params, check_mode=check_mode)
        assert bool(self.writes) == (result["changed"] and not check_mode), (result["changed"], self.writes)
        return result

    @property
    def writes(self) -> list[str]:
        """The write requests of the last call."""
        return [f"{each.method} {each.path}" for each in self.proxy.writes if not is_read(each.method, each.path)]

    def history(self, supervisor: str) -> int:
        """Return how often the specification was stored."""
        return len(self.client.get(f"/druid/indexer/v1/supervisor/{supervisor}/history"))


@contextmanager
def direct_on(
    druid: Druid, retry_timeout: float = 20.0, read_timeout: float = 120.0, upstream: Upstream | None = None
) -> Iterator[Direct]:
    """The logic of modules, on this Druid; ``upstream``: the server before it."""
    login = druid.credentials
    with recording_proxy(upstream or druid.upstream) as proxy:
        connection = Connection(
            urls=(proxy.url,),
            username=login.username if login else None,
            password=login.password if login else None,
            retry_timeout=retry_timeout,
            read_timeout=read_timeout,
        )
        with DruidClient(connection) as client:
            yield Direct(druid, proxy, client)
