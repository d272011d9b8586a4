# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The request of one task, and its outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import wait
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.action_options import (
    OPTIONS,
    BaseRequest,
    parse_options,
)


@dataclass(frozen=True)
class Request(BaseRequest):
    """An ingestion, and what to do with it."""

    options: Options = field(default_factory=Options)


@dataclass(frozen=True)
class Outcome(wait.Outcome[Report]):
    """The outcome of a request. `done` are the titles of the steps of all reconciles, `diff` their changes in Druid."""

    done: tuple[str, ...] = ()
    diff: tuple[dict[str, Any], ...] = ()


INGESTION_ARGUMENTS: Mapping[str, Any] = {
    **OPTIONS,
    "url": {"type": "str"},
    "read_timeout": {"type": "float", "default": 120.0},
    "write_timeout": {"type": "float", "default": 120.0},
    "retry_timeout": {"type": "float", "default": 30.0},
}


def to_request(
    arguments: Mapping[str, Any], check_mode: bool, find_file: Callable[[str], str], meter: Meter
) -> Request:
    """Return the request of the task; InvalidResource if `resource` is not a resource."""
    options = Options(
        check_mode,
        tuple(arguments["allowed_reference_namespaces"]),
        arguments["url"],
        Timeouts(arguments["read_timeout"], arguments["retry_timeout"], arguments["write_timeout"]),
        meter,
    )
    return Request(**parse_options(names.KIND, arguments, find_file), options=options)
