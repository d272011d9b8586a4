# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kubeconfig of a run, whose user name contains the resource of the run."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .kinds import Kind, kind_of


@dataclass(frozen=True)
class Owner:
    """The resource that is reconciled; the names are those in the user name."""

    apiVersion: str  # noqa: N815
    kind: str
    name: str
    uid: str
    Namespace: str

    @property
    def gvk(self) -> Kind:
        """Its kind."""
        return kind_of(asdict(self))


def owner_of(resource: Mapping[str, Any]) -> Owner:
    """The owner for the run of a resource."""
    metadata = resource["metadata"]
    return Owner(resource["apiVersion"], resource["kind"], metadata["name"], metadata["uid"], metadata["namespace"])


def requesting_owner(authorization: str | None) -> Owner | None:
    """The owner in a request's Authorization header, None where there is none; a ValueError for another user name."""
    scheme, _blank, credentials = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    user = base64.b64decode(credentials).decode().partition(":")[0]
    try:
        return Owner(**json.loads(base64.urlsafe_b64decode(user)))
    except TypeError as error:
        raise ValueError(str(error)) from error


def kubeconfig(owner: Owner, port: int) -> str:
    """The kubeconfig of the owner's run."""
    user = base64.urlsafe_b64encode(json.dumps(asdict(owner)).encode()).decode()
    cluster = {"insecure-skip-tls-verify": True, "server": f"http://{user}@localhost:{port}"}
    name, login, context = "proxy-server", "admin/proxy-server", f"{owner.Namespace}/proxy-server"
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": login, "user": {"username": user, "password": "unused"}}],
        "contexts": [{"name": context, "context": {"cluster": name, "user": login}}],
        "current-context": context,
    }
    return json.dumps(content)
