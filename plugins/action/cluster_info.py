# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The state of Druid clusters. The options are documented in plugins/modules/cluster_info.py."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import bytecode_cache  # pylint: disable=unused-import  # noqa: F401 - before the others

# isort: split
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.info import CLUSTER_INFO, clusters
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import argument_spec, connect
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import DruidopsError


class ActionModule(ActionBase):
    """Reads Druid resources."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        del tmp
        returned: dict[str, Any] = super().run(task_vars=task_vars)
        _validation, arguments = self.validate_argument_spec({**CLUSTER_INFO, **argument_spec()})
        try:
            found = clusters(connect(arguments), arguments["namespace"], arguments["name"])
        except DruidopsError as error:
            return {**returned, "failed": True, "msg": str(error), "clusters": []}
        return {**returned, "changed": False, "clusters": found}
