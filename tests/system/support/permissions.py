# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the limited user may do in a namespace."""

from __future__ import annotations

from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest, NamespaceClient

RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/{}"


def grant(live: NamespaceClient, *rules: Manifest) -> None:
    """Let the limited user do this much, from now on."""
    path = RBAC.format(live.namespace)
    group = {"apiGroup": "rbac.authorization.k8s.io", "name": "limited"}
    binding = {"roleRef": {**group, "kind": "Role"}, "subjects": [{**group, "kind": "User"}]}
    metadata = {"metadata": {"name": "limited"}}
    # here a PUT makes what is not there
    live.plane.request("PUT", f"{path}/roles/limited", {**metadata, "rules": list(rules)})
    live.plane.request("PUT", f"{path}/rolebindings/limited", {**metadata, **binding})
    eventually(lambda: allowed(live, rules[-1]))


def allowed(live: NamespaceClient, rule: Manifest) -> bool:
    """True when the authorizer has heard of the rule."""
    attributes = {
        "namespace": live.namespace,
        "group": rule["apiGroups"][0],
        "resource": rule["resources"][-1],
        "verb": rule["verbs"][-1].replace("*", "patch"),
    }
    review = {"spec": {"user": "limited", "resourceAttributes": attributes}}
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    return bool(live.plane.request("POST", path, review)["status"]["allowed"])
