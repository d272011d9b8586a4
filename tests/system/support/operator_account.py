# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A ServiceAccount with exactly the rights of config/rbac, and what of them was used."""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import yaml
from testbed.audit import AuditEvent
from testbed.control_plane import ControlPlane
from testbed.private_file import private

_CONFIG = Path(__file__).parents[3] / "config" / "rbac"
ROLE = _CONFIG / "role.yaml"
ELECTION = _CONFIG / "leader_election_role.yaml"
# For an admission plugin that is off here, as in most clusters; no request shows it.
NOT_SEEN = {"druids/finalizers", "druidingestions/finalizers", "collectors/finalizers"}
CREATED = 201
FORBIDDEN = 403
_RBAC = "/apis/rbac.authorization.k8s.io/v1"


class Right(NamedTuple):
    """What may be done with a resource (`plural` or `plural/subresource`)."""

    verb: str
    resource: str


@dataclass(frozen=True)
class Account:
    """The account's name in the audit log, and how it logs in."""

    username: str
    kubeconfig: Path

    def through(self, url: str) -> Path:
        """Return a kubeconfig of the account that knows the API server by another address."""
        content = json.loads(self.kubeconfig.read_text(encoding="utf-8"))
        content["clusters"][0]["cluster"]["server"] = url
        file = private(self.kubeconfig.with_name(f"account-{urlsplit(url).port}.kubeconfig"))
        file.write_text(json.dumps(content), encoding="utf-8")
        return file


def role() -> dict[str, Any]:
    """Return the operator's ClusterRole."""
    return _read(ROLE)


def _read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return found


def granted() -> set[Right]:
    """Return the rights of which an audit log can show that they are used."""
    return {
        Right(verb, resource)
        for rule in role()["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
        if resource not in NOT_SEEN
    }


def used(events: list[AuditEvent]) -> set[Right]:
    """Return the rights that the requests needed: an apply that makes an object needs two."""
    found = set()
    for each in events:
        resource = f"{each.resource}/{each.subresource}" if each.subresource else each.resource
        found.add(Right(each.verb, resource))
        if each.verb == "patch" and each.code == CREATED:
            found.add(Right("create", resource))
    return found


def deny(plane: ControlPlane, login: Account, verbs: Collection[str], resource: str) -> None:
    """Take rights on a resource away from the account, in all namespaces."""
    name = login.username.rpartition(":")[2]
    rules = [
        each
        for rule in role()["rules"]
        for each in (
            {**rule, "resources": [other for other in rule["resources"] if other != resource]},
            {**rule, "resources": [resource], "verbs": [verb for verb in rule["verbs"] if verb not in verbs]}
            if resource in rule["resources"]
            else {"resources": []},
        )
        if each["resources"]
    ]
    path = f"{_RBAC}/clusterroles/{name}"
    plane.request("PATCH", path, {"rules": rules}, content_type="application/merge-patch+json")


def _binding(subject: dict[str, str], kind: str, name: str) -> dict[str, Any]:
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
    return {"metadata": {"name": name}, "subjects": [subject], "roleRef": reference}


def account(plane: ControlPlane, namespace: str, directory: Path) -> Account:
    """Make the account in the namespace; its rights are for all namespaces, those to be the leader for its own."""
    name = f"druid-operator-{secrets.token_hex(4)}"
    accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    plane.request("POST", accounts, {"metadata": {"name": name}})
    plane.request("POST", f"{_RBAC}/clusterroles", {**role(), "metadata": {"name": name}})
    subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    plane.request("POST", f"{_RBAC}/clusterrolebindings", _binding(subject, "ClusterRole", name))
    own = f"{_RBAC}/namespaces/{namespace}"
    plane.request("POST", f"{own}/roles", {**_read(ELECTION), "metadata": {"name": name}})
    plane.request("POST", f"{own}/rolebindings", _binding(subject, "Role", name))
    issued = plane.request("POST", f"{accounts}/{name}/token", {"spec": {"expirationSeconds": 3600}})
    content = json.loads(plane.kubeconfig().read_text(encoding="utf-8"))
    content["users"][0]["user"] = {"token": issued["status"]["token"]}
    kubeconfig = private(directory / "account.kubeconfig")
    kubeconfig.write_text(json.dumps(content), encoding="utf-8")
    return Account(f"system:serviceaccount:{namespace}:{name}", kubeconfig)
