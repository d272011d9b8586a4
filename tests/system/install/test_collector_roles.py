# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The permissions for Collectors in the namespace of a tenant: those of the chart are those of config/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.install.test_chart import TEMPLATE
from ansible_collections.druidops.druid.tests.system.support.installation import (
    Installer,
    Manifest,
    container,
    environment,
)

TENANT = "team-a"
OPERATOR = "druid-operator-controller-manager"
VALUES = f"--set collector.tenantNamespaces={{{TENANT}}} --set serviceAccount.name={OPERATOR}"
WITHOUT, WITH = "config/collector", "config/collector_account"


def rules(objects: dict[Any, Manifest]) -> dict[tuple[str, str], Any]:
    """What of the objects in the namespace of the tenant has an effect."""
    return {
        (kind, name): [each.get(part) for part in ("rules", "roleRef", "subjects", "automountServiceAccountToken")]
        for (kind, namespace, name), each in objects.items()
        if namespace == TENANT
    }


@pytest.mark.parametrize(("config", "account"), [(WITHOUT, ""), (WITH, "druid-collectors")])
def test_chart_grants_what_config_grants(tmp_path: Path, config: str, account: str) -> None:
    installer = Installer(tmp_path)
    chart = installer.objects(f"{TEMPLATE} druid-operator-system {VALUES} --set collector.serviceAccount={account}")
    applied = f"mkdir own; cd own; printf 'namespace: {TENANT}\\nresources: [../{config}]\\n' > kustomization.yaml"
    found = rules(installer.objects(f"{applied}; kubectl kustomize ."))
    assert rules(chart) == found
    assert len(found) == (5 if account else 2)
    [deployment] = [each for (kind, *_name), each in chart.items() if kind == "Deployment"]
    assert environment(deployment)["TENANT_SERVICE_ACCOUNT"] == account
    assert "HELM_REGISTRY_CONFIG" not in environment(deployment)
    # the account of another name is that of the role, too
    other = installer.objects(f"{TEMPLATE} druid-operator-system {VALUES} --set collector.serviceAccount=deployer")
    role = other["Role", TENANT, "druid-operator-collector-accounts"]
    assert role["rules"][1]["resourceNames"] == ["deployer"]


def test_credentials_of_registries_are_mounted(tmp_path: Path) -> None:
    chart = Installer(tmp_path).objects(f"{TEMPLATE} druid-operator-system --set collector.registrySecret=registries-1")
    [deployment] = [each for (kind, *_name), each in chart.items() if kind == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    file = Path(environment(deployment)["HELM_REGISTRY_CONFIG"])
    [mount] = [each for each in container(deployment)["volumeMounts"] if each["mountPath"] == str(file.parent)]
    [volume] = [each for each in pod["volumes"] if each["name"] == mount["name"]]
    # the key of a Secret of type kubernetes.io/dockerconfigjson
    assert (volume["secret"]["secretName"], file.name) == ("registries-1", ".dockerconfigjson")
