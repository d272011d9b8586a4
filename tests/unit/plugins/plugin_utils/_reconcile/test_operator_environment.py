# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the environment of the operator sets, and that it sets nothing for any other task."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.kind import COLLECTOR
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.operator_environment import (
    is_too_often,
    of_server,
    with_environment,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import ARGUMENTS

ENVIRONMENT = {
    "DENY_LIST": "a, b",
    "WATCH_NAMESPACE": "c",
    "ALLOWED_REFERENCE_NAMESPACES": "d",
    "ALLOWED_ENDPOINT_HOSTS": "e:1,f",
    "ALLOWED_TENANT_NAMESPACES": "g",
    "ALLOWED_CHART_REPOSITORIES": "https://h",
    "ALLOW_CLUSTER_SCOPED_OBJECTS": "true",
    "TENANT_SERVICE_ACCOUNT": "i",
    "HELM_REGISTRY_CONFIG": "/j",
    "DRUIDOPS_LOG": "/k",
    "DRUIDOPS_KUBECONFIG": "/l",
    "DRUIDOPS_METRICS_URL": "http://m",
    "K8S_AUTH_KUBECONFIG": "/n",
    "DRUIDOPS_UNFINISHED": "o",
}
SET: dict[str, Any] = {
    "ignored_namespaces": ("a", "b"),
    "metrics_namespaces": ("c",),
    "allowed_reference_namespaces": ("d",),
    "allowed_endpoint_hosts": ("e:1", "f"),
    "allowed_tenant_namespaces": ("g",),
    "allowed_chart_repositories": ("https://h",),
    "allow_cluster_scoped_objects": True,
    "tenant_service_account": "i",
    "helm_registry_config": "/j",
    "log": "/k",
    "kubeconfig": "/l",
    "metrics_url": "http://m",
    "cache_kubeconfig": "/n",
    "unfinished": "o",
    "refuse_own_host": True,
    "fail_when_blocked": False,
    "fail_on": "never",
    "plan_files": [],
}


def arguments(kind: Kind[Any, Any, Any], **specified: Any) -> dict[str, Any]:
    return {name: each.get("default") for name, each in {**ARGUMENTS, **kind.arguments}.items()} | specified


@pytest.mark.parametrize("kind", [DRUID, INGESTION, COLLECTOR], ids=["Druid", "DruidIngestion", "Collector"])
def test_operator_takes_its_settings_from_the_environment(kind: Kind[Any, Any, Any]) -> None:
    specified = {"name": "n", "fail_on": "changes", "plan_files": ["/etc/passwd.md"]}
    found = with_environment(arguments(kind, operator=True, **specified), ENVIRONMENT)
    assert {name: found[name] for name in SET} == SET
    assert found["name"] == "n"


@pytest.mark.parametrize("kind", [DRUID, INGESTION, COLLECTOR], ids=["Druid", "DruidIngestion", "Collector"])
def test_without_the_option_no_variable_has_a_meaning(kind: Kind[Any, Any, Any]) -> None:
    specified = arguments(kind)
    assert with_environment(specified, ENVIRONMENT) == with_environment(specified, {})
    assert specified.items() <= with_environment(specified, ENVIRONMENT).items()


def test_unset_variables_leave_the_options_as_they_are() -> None:
    specified = arguments(COLLECTOR, operator=True, allowed_tenant_namespaces=["t"], allow_cluster_scoped_objects=True)
    found = with_environment(specified, dict.fromkeys(ENVIRONMENT, ""))
    for name in ("allowed_tenant_namespaces", "allow_cluster_scoped_objects", "helm_registry_config"):
        assert found[name] == specified[name]


def test_address_of_the_own_host_can_be_allowed() -> None:
    found = with_environment(arguments(DRUID, operator=True), {"ALLOW_OWN_HOST": "true"})
    assert not found["refuse_own_host"]


def test_connection_to_the_api_server_never_leads_to_the_cache() -> None:
    assert "K8S_AUTH_KUBECONFIG" not in of_server(ENVIRONMENT, is_operator=True)
    assert of_server(ENVIRONMENT, is_operator=False) == ENVIRONMENT


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("1ns", True),
        ("9.9s", True),
        ("+1s", True),
        ("10s", False),
        ("1h", False),
        ("0s", False),
        ("x", False),
        (None, False),
    ],
)
def test_period_is_limited(asked: str | None, expected: bool) -> None:
    annotations = {} if asked is None else {"ansible.sdk.operatorframework.io/reconcile-period": asked}
    assert is_too_often(annotations) == expected
