# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator keeps a Collector, with its own role and that of config/collector, and nothing more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from ansible_collections.druidops.druid.tests.system.collector.conftest import ROOT, resource
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.druid_operator import start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from ansible_collections.druidops.druid.tests.system.support.operator_account import FORBIDDEN, Account, account
from testbed.clients import helm
from testbed.operator_plugin import StartOperator

_RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces"


@pytest.fixture
def with_helm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the operator find helm, as in its image."""
    programs = tmp_path / "helm-programs"
    programs.mkdir()
    (programs / "helm").symlink_to(helm())
    monkeypatch.setenv("PATH", str(programs), prepend=":")


def permit(live: NamespaceClient, login: Account) -> None:
    """Give the operator the permissions of config/collector in the namespace."""
    role = yaml.safe_load((ROOT / "config" / "collector" / "role.yaml").read_text(encoding="utf-8"))
    *_system, namespace, name = login.username.split(":")
    live.plane.request("POST", f"{_RBAC}/{live.namespace}/roles", role)
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role["metadata"]["name"]}
    subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    binding = {"metadata": role["metadata"], "roleRef": reference, "subjects": [subject]}
    live.plane.request("POST", f"{_RBAC}/{live.namespace}/rolebindings", binding)


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


def reason(live: NamespaceClient) -> str:
    found = live.get("Collector", "telemetry")
    return condition(found, "Ready")["reason"] if found.get("status") else ""
