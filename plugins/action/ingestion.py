# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of a DruidIngestion, in-process. The options are documented in plugins/modules/ingestion.py."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils import (  # pylint: disable=unused-import
    _byte_code,  # noqa: F401 - before the others
)
from ansible_collections.druidops.druid.plugins.plugin_utils._action import Parts, ReconcileAction
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import measured, names, result
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.arguments import INGESTION, to_request
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.fulfil import fulfil


class ActionModule(ReconcileAction):
    """Keeps an ingestion."""

    parts = Parts(names.KIND, INGESTION, to_request, fulfil, result.of_outcome, measured.TELEMETRY.tell)
