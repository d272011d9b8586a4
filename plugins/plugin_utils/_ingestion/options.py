# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of an ingestion: those of the action, and those of a reconcile; and its intermediate result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts, to_timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.inputs import DruidState, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import request

ARGUMENTS: Mapping[str, Any] = {
    "url": {"type": "str"},
    "allowed_endpoint_hosts": {"type": "list", "elements": "str", "default": []},
    "read_timeout": {"type": "float", "default": 120.0, "aliases": ["timeout"]},
    "retry_timeout": {"type": "float", "default": 30.0},
    # as in the modules, whose options import Ansible
    "unknown_fields": {"type": "str", "choices": ["warn", "fail"], "default": "warn"},
}


@dataclass(frozen=True)
class Options(request.Options):
    """Options of a reconcile of an ingestion."""

    timeouts: Timeouts = field(default_factory=Timeouts)
    # A field that Druid does not know is a problem, not a warning.
    is_strict: bool = False


def to_options(arguments: Mapping[str, Any], check_mode: bool, meter: Meter) -> Options:
    """Return the options of a reconcile from the arguments of the action."""
    return Options(
        check_mode=check_mode,
        allowed_reference_namespaces=tuple(arguments["allowed_reference_namespaces"]),
        allowed_endpoint_hosts=tuple(arguments["allowed_endpoint_hosts"]),
        url=arguments["url"],
        refuse_own_host=arguments["refuse_own_host"],
        timeouts=to_timeouts(arguments),
        is_strict=arguments["unknown_fields"] == "fail",
        meter=meter,
    )


@dataclass(frozen=True)
class Reconciled:
    """State, plan and (not in check mode) completed steps of a reconcile; `failed_step` is the step that failed.

    `written` is the ConfigMap of the record as this reconcile has written it last.
    `terminated` are the ids of the supervisors and tasks that were terminated.
    `is_unanswered`: that step is a request which Druid may still be executing.
    `unknown_fields` are messages about fields that Druid has dropped in a change.
    `ingestion` is the parsed resource. `is_deleted`: the finalizer was removed, so that the resource is deleted.
    """

    resource: Manifest
    ingestion: Ingestion
    plan: Plan
    druid_state: DruidState | None = None
    observed: Observed = field(default_factory=Observed)
    written: Manifest | None = None
    failed_step: Any = None
    terminated: frozenset[str] = frozenset()
    is_unanswered: bool = False
    is_deleted: bool = False
    unknown_fields: tuple[str, ...] = ()
