# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The request of one task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import TIMEOUTS, Options
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.action_options import (
    OPTIONS,
    BaseRequest,
    parse_options,
)


@dataclass(frozen=True)
class Request(BaseRequest):
    """A cluster, and what to do with it."""

    options: Options = field(default_factory=Options)


CLUSTER_ARGUMENTS: Mapping[str, Any] = {
    **OPTIONS,
    "without_resource": {"type": "bool", "default": False},
    "url": {"type": "str"},
    "read_timeout": {"type": "float", "default": TIMEOUTS.read_timeout},
    "retry_timeout": {"type": "float", "default": TIMEOUTS.retry_timeout},
    "keep_finalizer": {"type": "bool", "default": False},
}


def to_request(
    arguments: Mapping[str, Any], check_mode: bool, find_file: Callable[[str], str], meter: Meter
) -> Request:
    """Return the request of the task; InvalidResource if `resource` is not a resource."""
    task = parse_options(names.KIND, arguments, find_file)
    without_resource = task["without_resource"] or (arguments["without_resource"] and task["resource"] is None)
    options = Options(
        check_mode,
        tuple(arguments["allowed_reference_namespaces"]),
        arguments["keep_finalizer"],
        arguments["url"],
        Timeouts(arguments["read_timeout"], arguments["retry_timeout"]),
        meter,
    )
    return Request(**{**task, "without_resource": without_resource}, options=options)
