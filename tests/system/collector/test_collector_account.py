# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Helm acts as an account of the tenant: a chart has the permissions of that account, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.tests.system.collector.conftest import Collectors, resource
from ansible_collections.druidops.druid.tests.system.collector.permissions import ACCOUNT, permit_account
from ansible_collections.druidops.druid.tests.system.collector.test_collector_release import copied
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient

BUDGET = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: more}
spec: {maxUnavailable: 1}
"""
# What the operator can read, and the tenant cannot.
LOOKUP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: more}
data: {found: {{ lookup "v1" "Namespace" "" "kube-system" | toJson | quote }}}
"""
AS_ACCOUNT: dict[str, Any] = {"tenant_service_account": ACCOUNT}


def forbidden(live: NamespaceClient, verb: str, what: str) -> str:
    return f'User "system:serviceaccount:{live.namespace}:{ACCOUNT}" cannot {verb} resource "{what}"'


def test_release_of_the_account(collectors: Collectors, live: NamespaceClient, tmp_path: Path) -> None:
    live.create(resource())
    assert forbidden(live, "list", "secrets") in unescaped(collectors.run(status=2, **AS_ACCOUNT).output)
    assert (collectors.reason(), live.names("Deployment")) == ("HelmFailed", set())
    permit_account(live)
    collectors.run(**AS_ACCOUNT)
    assert collectors.reason() == "ReleaseDeployed"
    live.delete("Service", "telemetry")
    collectors.run(**AS_ACCOUNT)
    assert live.find("Service", "telemetry") is not None
    assert not collectors.run(**AS_ACCOUNT).changed

    # an object that the account may not create; the user of the playbook may
    chart = copied(tmp_path, version="0.2.0")
    (chart / "templates" / "more.yaml").write_text(BUDGET)
    more: dict[str, Any] = {"chart": str(chart)}
    refused = collectors.run(status=2, **more, **AS_ACCOUNT)
    assert forbidden(live, "get", "poddisruptionbudgets") in unescaped(refused.output)
    assert collectors.reason() == "HelmFailed"
    assert live.names("PodDisruptionBudget") == set()
    (chart / "templates" / "more.yaml").write_text(LOOKUP)
    live.merge("Collector", "telemetry", {"metadata": {"annotations": {"druid.apache.org/retry": "1"}}})
    refused = collectors.run(status=2, **more, **AS_ACCOUNT)
    assert forbidden(live, "get", "namespaces") in unescaped(refused.output)
    assert collectors.status()["release"]["chart"] == "druid-collector-0.1.0"

    (chart / "templates" / "more.yaml").write_text(BUDGET)
    live.merge("Collector", "telemetry", {"metadata": {"annotations": {"druid.apache.org/retry": "2"}}})
    collectors.run(**more)
    live.delete("PodDisruptionBudget", "more")
    # nor is it written again, or uninstalled
    refused = collectors.run(status=2, **more, **AS_ACCOUNT)
    assert forbidden(live, "get", "poddisruptionbudgets") in unescaped(refused.output)
    assert collectors.reason() == "ObserveFailed"
    assert live.names("PodDisruptionBudget") == set()
    collectors.run(state="absent", wait=True)


def unescaped(text: str) -> str:
    return text.replace('\\"', '"')
