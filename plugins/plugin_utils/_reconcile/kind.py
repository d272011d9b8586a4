# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a kind supplies to the kernel: names, options, and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import Outcome, Progress
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Options, Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_input import Submitted
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.telemetry import Telemetry

_Options = TypeVar("_Options", bound=Options)
_Plan = TypeVar("_Plan", bound=Plan[Any])

Reconcile = Callable[[KubernetesApi, Manifest, _Options, datetime], Report[_Plan]]
Delete = Callable[[KubernetesApi, Request[_Options], Progress, Clock], Outcome[_Plan]]


def no_hint(_outcome: Outcome[Any], _request: Request[Any]) -> str:
    """Return no hint."""
    return ""


def no_flags(_plan: Any) -> Mapping[str, Any]:
    """Return no fields."""
    return {}


@dataclass(frozen=True)
class Output(Generic[_Plan]):
    """The result for Ansible: the plan as lines, its diff, fields of the status, and fields of the plan (`flags`).

    `hint` returns what to do about a task that timed out, or an empty text.
    """

    lines: Callable[[_Plan], list[str]]
    diff: Callable[[_Plan], list[dict[str, Any]]]
    details: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    hint: Callable[[Outcome[_Plan], Request[Any]], str] = no_hint
    flags: Callable[[_Plan], Mapping[str, Any]] = no_flags


@dataclass(frozen=True)
class Kind(Generic[_Options, _Plan]):
    """A kind of resource. `finalizer` is the name of its finalizer, which is also in watches.yaml.

    `variable` is the role's variable with the resource, `arguments` are options of the action besides the common ones.
    `reconcile` observes, decides, acts and reports. `submitted` returns the plan of the write of the resource itself.
    `delete_without_resource` deletes what was reconciled without a resource. `role_variables` are variables of the role
    besides those for options, without their prefix. With `reads_cache`, the operator reads its cache first:
    ansible-operator then watches all kinds that are read, of which there must be few.
    """

    name: str
    finalizer: str
    variable: str
    arguments: Mapping[str, Any]
    to_options: Callable[[Mapping[str, Any], bool, Meter], _Options]
    plan: type[_Plan]
    reconcile: Reconcile[_Options, _Plan]
    submitted: Callable[[Manifest, Submitted], _Plan]
    delete_resource: Delete[_Options, _Plan]
    delete_without_resource: Delete[_Options, _Plan]
    output: Output[_Plan]
    telemetry: Telemetry[_Plan]
    role_variables: tuple[str, ...] = ()
    reads_cache: bool = True

    @property
    def prefix(self) -> str:
        """The prefix of the role's variables."""
        return self.variable.removesuffix("resource")
