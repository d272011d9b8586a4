# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The permissions of config/collector, and of config/collector_account."""

from __future__ import annotations

from typing import Any

import yaml
from ansible_collections.druidops.druid.tests.system.collector.conftest import ROOT
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.operator_account import Account

_RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces"
_CONFIG = ROOT / "config"
ACCOUNT = "druid-collectors"


def permit(live: NamespaceClient, login: Account) -> None:
    """Give the operator the permissions of config/collector in the namespace."""
    _grant(live, _read("collector/role.yaml"), _subject(login))


def permit_account(live: NamespaceClient, login: Account | None = None) -> None:
    """Give them to the account of the tenant, and have the operator act as that account."""
    live.create({**_read("collector_account/service_account.yaml"), "kind": "ServiceAccount"})
    own = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": live.namespace}
    _grant(live, _read("collector/role.yaml"), own)
    if login is not None:
        _grant(live, _read("collector_account/operator_role.yaml"), _subject(login))


def _subject(login: Account) -> dict[str, str]:
    *_system, namespace, name = login.username.split(":")
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def _grant(live: NamespaceClient, role: dict[str, Any], subject: dict[str, str]) -> None:
    live.plane.request("POST", f"{_RBAC}/{live.namespace}/roles", role)
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role["metadata"]["name"]}
    binding = {"metadata": role["metadata"], "roleRef": reference, "subjects": [subject]}
    live.plane.request("POST", f"{_RBAC}/{live.namespace}/rolebindings", binding)


def _read(file: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((_CONFIG / file).read_text(encoding="utf-8"))
    return found
