# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of the action `cluster`, and the request that they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.settings import PATIENCE, Settings
from ansible_collections.druidops.druid.plugins.plugin_utils._druid.patience import Patience
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._task import OPTIONS, stated

CLUSTER: Mapping[str, Any] = {
    **OPTIONS,
    "by_variable": {"type": "bool", "default": False},
    "url": {"type": "str"},
    "read_timeout": {"type": "float", "default": PATIENCE.read_timeout},
    "retry_timeout": {"type": "float", "default": PATIENCE.retry_timeout},
    "keep_finalizer": {"type": "bool", "default": False},
}


def to_request(
    arguments: Mapping[str, Any], check_mode: bool, find_file: Callable[[str], str], meter: Meter
) -> Request:
    """Return what the task asks for; BadResource when the resource given is none."""
    task = stated(names.KIND, arguments, find_file)
    by_variable = task["by_variable"] or (arguments["by_variable"] and task["resource"] is None)
    settings = Settings(
        check_mode,
        tuple(arguments["reference_namespaces"]),
        arguments["keep_finalizer"],
        arguments["url"],
        Patience(arguments["read_timeout"], arguments["retry_timeout"]),
        meter,
    )
    return Request(**{**task, "by_variable": by_variable}, settings=settings)
