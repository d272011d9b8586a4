# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is kept about the datasource besides its ingestion."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.module_utils._client import DruidClient
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import Converge
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record import Record
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion


def kept(_client: DruidClient, _ingestion: Ingestion, _record: Record) -> tuple[Converge, ...]:
    """Return what is to be changed of it."""
    return ()
