# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of a resource of an object in Druid. The options are documented in plugins/modules/druid_object.py."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import bytecode_cache  # pylint: disable=unused-import  # noqa: F401 - before the others

# isort: split
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.kinds import KINDS
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.lookup import LOOKUP
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.action import ReconcileAction


class ActionModule(ReconcileAction):
    """Reconciles a resource of the kind in the option of this name."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        # the options of all kinds are the same; an unknown kind is rejected with them
        self.kind = KINDS.get(str(self._task.args.get("kind")), LOOKUP)
        return super().run(tmp, task_vars)
