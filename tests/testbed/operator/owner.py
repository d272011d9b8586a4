# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whose run a request to the proxy comes from: the user name in the run's kubeconfig says that."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .kinds import Kind, kind_of

_KUBECONFIG = """\
---
apiVersion: v1
kind: Config
clusters:
- cluster:
    insecure-skip-tls-verify: true
    server: {server}
  name: proxy-server
contexts:
- context:
    cluster: proxy-server
    user: admin/proxy-server
  name: {namespace}/proxy-server
current-context: {namespace}/proxy-server
preferences: {{}}
users:
- name: admin/proxy-server
  user:
    username: {user}
    password: unused
"""


@dataclass(frozen=True)
class Owner:
    """The resource that is reconciled."""

    api_version: str
    kind: str
    name: str
    uid: str
    namespace: str

    @property
    def gvk(self) -> Kind:
        """Its kind."""
        return kind_of(self.reference)

    @property
    def reference(self) -> dict[str, str]:
        """What stands in ownerReferences."""
        return {"apiVersion": self.api_version, "kind": self.kind, "name": self.name, "uid": self.uid}

    @property
    def type_annotation(self) -> str:
        """What names its kind where no reference can."""
        return f"{self.kind}.{self.gvk.group}"


def owner_of(resource: Mapping[str, Any]) -> Owner:
    """The owner that a resource is of what its run creates."""
    metadata = resource["metadata"]
    namespace = metadata.get("namespace", "")
    return Owner(resource["apiVersion"], resource["kind"], metadata["name"], metadata["uid"], namespace)


def encoded(owner: Owner) -> str:
    """The user name."""
    return base64.urlsafe_b64encode(json.dumps({**owner.reference, "Namespace": owner.namespace}).encode()).decode()


def requesting_owner(authorization: str | None) -> Owner | None:
    """The owner that a request's Authorization header tells of; None where it has another or none.

    A ValueError where the user name is no reference to an owner.
    """
    scheme, _blank, credentials = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    user = base64.b64decode(credentials).decode().partition(":")[0]
    content = json.loads(base64.b64decode(user, validate=True))
    return Owner(content["apiVersion"], content["kind"], content["name"], content["uid"], content["Namespace"])


def kubeconfig(owner: Owner, port: int) -> str:
    """The kubeconfig of the owner's run."""
    user = encoded(owner)
    return _KUBECONFIG.format(server=f"http://{user}@localhost:{port}", namespace=owner.namespace, user=user)
