# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the modules dynamic_config and dynamic_config_info."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import converge
from ansible_collections.druidops.druid.plugins.module_utils._operations.documents import document_of
from ansible_collections.druidops.druid.plugins.module_utils._operations.module_result import ModuleResult
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import Item
from ansible_collections.druidops.druid.plugins.module_utils._resources.compaction import CompactionConfig
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Audit, audit
from ansible_collections.druidops.druid.plugins.module_utils._resources.dynamic_config import DynamicConfig
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import masked
from ansible_collections.druidops.druid.plugins.module_utils._spec.dynamic_config import (
    BROKER,
    COMPACTION,
    COORDINATOR,
    OVERLORD,
    TASK_RUNNER,
    ConfigKind,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput

_KINDS = (COORDINATOR, OVERLORD, TASK_RUNNER, BROKER, COMPACTION)
Config = Mapping[str, Any]


def ensure_configs(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return a result with an entry per specified configuration. A failure does not stop the others.

    The option of each has its id as name.
    """
    author = audit(params["author"], params["comment"])
    of_all = {"unknown_fields": params["unknown_fields"]}
    specified = [(kind, Item({"id": kind.id, **of_all})) for kind in _KINDS if params[kind.id] is not None]
    report = ModuleResult("configs", "dynamic configuration", "config", [item for _kind, item in specified])
    for kind, item in specified:
        with report.part_of(item):
            config = _config(client, kind, document_of(params, kind.id), author)
            change = converge(config, check_mode=check_mode, is_strict=item.is_strict)
            report.record(item, change, config.warnings)
    return report.result()


def dynamic_config_info(client: DruidClient, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the selected dynamic configurations that this Druid has."""
    found = all_configs(client, params["id"])
    return [{"id": identifier, "config": masked(config)} for identifier, config in found.items()]


def all_configs(client: DruidClient, identifier: str | None = None) -> dict[str, Any]:
    """Return the dynamic configurations that this Druid has by id, or only one, with their secrets."""
    found = {kind.id: _read(client, kind) for kind in _KINDS if identifier in (None, kind.id)}
    return {name: config for name, config in found.items() if config is not None}


def _read(client: DruidClient, kind: ConfigKind) -> Any:
    try:
        return _config(client, kind, {}, {}).read()
    except InvalidInput:
        # this Druid does not have this configuration
        return None


def _config(client: DruidClient, kind: ConfigKind, desired: Config, author: Audit) -> DynamicConfig:
    if kind is COMPACTION:
        return CompactionConfig(client, desired, author)
    return DynamicConfig(client, kind, desired, author)
