# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of a Collector: those of the action, and those of a reconcile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.time_limit import OPERATOR_SECONDS, TimeLimit
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm import Helm, no_helm
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import user_of
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import request

# The chart of this collection.
DEFAULT_CHART = str(Path(__file__).resolve().parents[3] / "charts" / "druid-collector")

ARGUMENTS: Mapping[str, Any] = {
    "allowed_tenant_namespaces": {"type": "list", "elements": "str", "default": []},
    "allowed_chart_repositories": {"type": "list", "elements": "str", "default": []},
    "allow_cluster_scoped_objects": {"type": "bool", "default": False},
    "chart": {"type": "str"},
    "helm_binary": {"type": "str"},
    "helm_registry_config": {"type": "str"},
    "helm_timeout": {"type": "int", "default": 120},
    "tenant_service_account": {"type": "str", "default": ""},
}


@dataclass(frozen=True)
class Options(request.Options):
    """Options of a reconcile of a Collector. `chart` is the path of the default chart."""

    helm: Helm = field(default_factory=no_helm, compare=False)
    allowed_tenant_namespaces: tuple[str, ...] = ()
    allowed_chart_repositories: tuple[str, ...] = ()
    allow_cluster_scoped_objects: bool = False
    chart: str = DEFAULT_CHART
    helm_timeout: int = 120
    tenant_service_account: str = ""

    def connection_of(self, api: KubernetesApi, tenant: str) -> KubernetesApi:
        """Return the connection for the objects of a release: as the operator, or as the account of the tenant."""
        user = user_of(self.tenant_service_account, tenant)
        return api.acting_as(user) if user else api


def to_options(helm: Helm, arguments: Mapping[str, Any], check_mode: bool, meter: Meter) -> Options:
    """Return the options of a reconcile from the arguments of the action."""
    limit = TimeLimit(OPERATOR_SECONDS) if arguments["operator"] else None
    return Options(
        check_mode=check_mode,
        helm=replace(helm, service_account=arguments["tenant_service_account"], time_limit=limit),
        allowed_reference_namespaces=tuple(arguments["allowed_reference_namespaces"]),
        allowed_tenant_namespaces=tuple(filter(None, arguments["allowed_tenant_namespaces"])),
        allowed_chart_repositories=tuple(filter(None, arguments["allowed_chart_repositories"])),
        allow_cluster_scoped_objects=arguments["allow_cluster_scoped_objects"],
        chart=arguments["chart"] or DEFAULT_CHART,
        helm_timeout=arguments["helm_timeout"],
        tenant_service_account=arguments["tenant_service_account"],
        meter=meter,
    )
