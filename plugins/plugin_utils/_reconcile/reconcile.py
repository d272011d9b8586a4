# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile: what a kind does, and the report on it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report, Reporting, report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.status import report_observe_failure

_Done = TypeVar("_Done")
_Options = TypeVar("_Options", bound=Options)
_Plan = TypeVar("_Plan", bound=Plan[Any])


def reconcile_and_report(
    kind: Reporting[_Done, _Plan],
    reconcile: Callable[[KubernetesApi, Manifest, _Options], _Done],
    api: KubernetesApi,
    resource: Manifest,
    options: _Options,
    now: datetime,
) -> Report[_Plan]:
    """Reconcile a resource: from the API, or (without a uid) built from a spec.

    KubernetesError if the API cannot be read; the conditions report it. All other problems are in the report.
    """
    try:
        done = reconcile(api, resource, options)
    except KubernetesError as error:
        if not options.check_mode:
            report_observe_failure(api, resource, error, now)
        raise
    with options.phases("report"):
        return report(kind, api, done, options.check_mode, now)
