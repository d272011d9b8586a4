# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of the action `ingestion`, and the request that they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._druid.patience import Patience
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.settings import Settings
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._task import OPTIONS, stated

INGESTION: Mapping[str, Any] = {
    **OPTIONS,
    "url": {"type": "str"},
    "read_timeout": {"type": "float", "default": 120.0},
    "write_timeout": {"type": "float", "default": 120.0},
    "retry_timeout": {"type": "float", "default": 30.0},
}


def to_request(
    arguments: Mapping[str, Any], check_mode: bool, find_file: Callable[[str], str], meter: Meter
) -> Request:
    """Return what the task asks for; BadResource when the resource given is none."""
    settings = Settings(
        check_mode,
        tuple(arguments["reference_namespaces"]),
        arguments["url"],
        Patience(arguments["read_timeout"], arguments["retry_timeout"], arguments["write_timeout"]),
        meter,
    )
    return Request(**stated(names.KIND, arguments, find_file), settings=settings)
