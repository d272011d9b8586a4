# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of an ingestion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object import options
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter

ARGUMENTS: Mapping[str, Any] = {
    **options.ARGUMENTS,
    # as in the modules, whose options import Ansible
    "unknown_fields": {"type": "str", "choices": ["warn", "fail"], "default": "warn"},
}


@dataclass(frozen=True)
class Options(options.Options):
    """Options of a reconcile of an ingestion."""

    # A field that Druid does not know is a problem, not a warning.
    is_strict: bool = False


def to_options(arguments: Mapping[str, Any], check_mode: bool, meter: Meter) -> Options:
    """Return the options of a reconcile from the arguments of the action."""
    common = options.common_options(arguments, check_mode, meter)
    return Options(**common, is_strict=arguments["unknown_fields"] == "fail")
