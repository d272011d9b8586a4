# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of a DruidIngestion, in-process. The options are documented in plugins/modules/ingestion.py."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import bytecode_cache  # pylint: disable=unused-import  # noqa: F401 - before the others

# isort: split
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.action import ReconcileAction


class ActionModule(ReconcileAction):
    """Reconciles an ingestion."""

    kind = INGESTION
