# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of a reconcile of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts, to_timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import announce_nothing

# Shorter than in the modules: a reconcile that waits for Druid delays other clusters.
TIMEOUTS = Timeouts(read_timeout=10, retry_timeout=5)

ARGUMENTS: Mapping[str, Any] = {
    "without_resource": {"type": "bool", "default": False},
    "url": {"type": "str"},
    "allowed_endpoint_hosts": {"type": "list", "elements": "str", "default": []},
    "read_timeout": {"type": "float", "default": TIMEOUTS.read_timeout, "aliases": ["timeout"]},
    "retry_timeout": {"type": "float", "default": TIMEOUTS.retry_timeout},
    "wait_for_recovery": {"type": "bool", "default": False},
}


@dataclass(frozen=True)
class Options(request.Options):
    """Options of a reconcile of a cluster.

    With `keep_finalizer`, which the operator sets, the resource always has the finalizer, and the reconcile of a
    terminating resource does not wait for the end of its pods: it is repeated. `announce` is called before each step.
    """

    keep_finalizer: bool = False
    timeouts: Timeouts = TIMEOUTS
    announce: Callable[[Any], None] = field(default=announce_nothing, compare=False)


def to_options(arguments: Mapping[str, Any], check_mode: bool, meter: Meter) -> Options:
    """Return the options of a reconcile from the arguments of the action."""
    return Options(
        check_mode=check_mode,
        allowed_reference_namespaces=tuple(arguments["allowed_reference_namespaces"]),
        allowed_endpoint_hosts=tuple(arguments["allowed_endpoint_hosts"]),
        url=arguments["url"],
        refuse_own_host=arguments["refuse_own_host"],
        keep_finalizer=arguments["operator"],
        timeouts=to_timeouts(arguments),
        meter=meter,
    )
