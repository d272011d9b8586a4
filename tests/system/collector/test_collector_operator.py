# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator keeps a Collector, with its own role and that of config/collector, and nothing more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.system.collector.conftest import resource
from ansible_collections.druidops.druid.tests.system.collector.permissions import ACCOUNT, permit, permit_account
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.druid_operator import start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from ansible_collections.druidops.druid.tests.system.support.operator_account import FORBIDDEN, account
from testbed.api import ApiError
from testbed.clients import helm
from testbed.operator_plugin import StartOperator

NOT_FOUND = 404


@pytest.fixture
def with_helm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the operator find helm, as in its image."""
    programs = tmp_path / "helm-programs"
    programs.mkdir()
    (programs / "helm").symlink_to(helm())
    monkeypatch.setenv("PATH", str(programs), prepend=":")


@pytest.mark.usefixtures("with_helm")
def test_life_cycle(operator: StartOperator, live: NamespaceClient, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    login = account(live.plane, live.namespace, tmp_path)
    started = start(operator, live, tmp_path, login=login, RECONCILE_WAIT="5s", DRUIDOPS_LOG=str(log))
    started = replace(started, kind="Collector")
    live.create(small_cluster.resource("wiki", small_cluster.spec(replicas=1)))
    live.create(resource(cluster="wiki", values={"podAnnotations": {"text": "{{ 7 * 7 }}"}}))
    # without the permissions: a condition, and nothing else
    eventually(lambda: reason(live) == "ObserveFailed")
    assert not live.names("Deployment")
    mark = live.mark()
    permit(live, login)

    started.wait_until_ready("telemetry")
    template = live.get("Deployment", "telemetry")["spec"]["template"]
    assert template["metadata"]["annotations"]["text"] == "{{ 7 * 7 }}"
    live.delete("Service", "telemetry")
    eventually(lambda: live.find("Service", "telemetry") is not None)
    live.merge("Collector", "telemetry", {"spec": {"collector": {"version": "0.141.0"}}})
    eventually(lambda: live.get("Collector", "telemetry")["status"]["release"]["revision"] == 2)
    assert not [each for each in started.events(mark)[-50:] if each.code == FORBIDDEN]

    live.delete("Collector", "telemetry")
    eventually(lambda: live.find("Collector", "telemetry") is None)
    assert live.find("Deployment", "telemetry") is None
    assert "install release telemetry" in log.read_text(encoding="utf-8")


@campaign("the same by the playbook")
@pytest.mark.usefixtures("with_helm")
def test_account_of_the_tenant(operator: StartOperator, live: NamespaceClient, tmp_path: Path) -> None:
    login = account(live.plane, live.namespace, tmp_path)
    permit_account(live, login)
    started = start(operator, live, tmp_path, login=login, RECONCILE_WAIT="5s", TENANT_SERVICE_ACCOUNT=ACCOUNT)
    started, mark = replace(started, kind="Collector"), live.mark()
    live.create(resource())
    started.wait_until_ready("telemetry")
    live.delete("Service", "telemetry")
    eventually(lambda: live.find("Service", "telemetry") is not None)
    live.delete("Collector", "telemetry")
    eventually(lambda: live.find("Collector", "telemetry") is None)
    assert live.names("Deployment") == set()
    # Helm asks for the namespace, and does without.
    refused = [each for each in started.events(mark) if each.code == FORBIDDEN and each.resource != "namespaces"]
    assert refused == []


@pytest.mark.usefixtures("with_helm")
def test_tenant_whose_namespace_is_deleted(operator: StartOperator, live: NamespaceClient, tmp_path: Path) -> None:
    tenant = NamespaceClient(live.plane, f"{live.namespace}-tenant")
    live.plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": tenant.namespace}})
    login = account(live.plane, live.namespace, tmp_path)
    permit(tenant, login)
    allowed = {"ALLOWED_TENANT_NAMESPACES": tenant.namespace}
    started = replace(start(operator, live, tmp_path, login=login, RECONCILE_WAIT="5s", **allowed), kind="Collector")
    live.create(resource(tenant=tenant.namespace))
    started.wait_until_ready("telemetry")
    # with it, the permissions of the operator go
    live.plane.request("DELETE", f"/api/v1/namespaces/{tenant.namespace}")
    eventually(lambda: reason(live) == "TenantNotFound", otherwise=lambda: started.diagnostics("telemetry"))
    live.delete("Collector", "telemetry")
    eventually(lambda: live.find("Collector", "telemetry") is None)


@campaign("the namespace of the tenant is deleted")
@pytest.mark.usefixtures("with_helm")
@pytest.mark.parametrize("is_tenant", [False, True])
def test_namespace_of_the_resource_is_deleted(
    operator: StartOperator, live: NamespaceClient, tmp_path: Path, is_tenant: bool
) -> None:
    """The release has a Role there in both cases, for which the permissions go as well."""
    own = NamespaceClient(live.plane, f"{live.namespace}-own")
    path = f"/api/v1/namespaces/{own.namespace}"
    live.plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": own.namespace}})
    login = account(live.plane, live.namespace, tmp_path)
    permit(live, login)
    permit(own, login)
    allowed = {"ALLOWED_TENANT_NAMESPACES": live.namespace}
    started = replace(start(operator, own, tmp_path, login=login, RECONCILE_WAIT="5s", **allowed), kind="Collector")
    own.create(small_cluster.resource("wiki", small_cluster.spec(replicas=1)))
    tenant = own if is_tenant else live
    own.create(resource(tenant=tenant.namespace, cluster="wiki"))
    started.wait_until_ready("telemetry")
    assert tenant.names("Deployment") >= {"telemetry"}
    live.plane.request("DELETE", path)
    eventually(lambda: not exists(live, path), otherwise=lambda: started.diagnostics("telemetry"))
    assert live.names("Deployment") | live.names("Service") == set()


def exists(live: NamespaceClient, path: str) -> bool:
    try:
        return bool(live.plane.request("GET", path))
    except ApiError as error:
        if error.status != NOT_FOUND:
            raise
        return False


def reason(live: NamespaceClient) -> str:
    found = live.get("Collector", "telemetry")
    # before an installation, the status has only the release
    return condition(found, "Ready")["reason"] if found.get("status", {}).get("conditions") else ""
