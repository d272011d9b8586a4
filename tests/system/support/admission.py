# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rejections by the API server on request: an admission policy, a quota."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from testbed.api import ApiError

POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
WORDS = "not on a Sunday"
PROBE = "probe"
WRITES = ("CREATE", "UPDATE")
_OBJECT = "(object == null ? oldObject : object)"


@contextmanager
def refusing(
    live: NamespaceClient, kind: str, name: str | None = None, operations: Sequence[str] = WRITES
) -> Iterator[None]:
    """
    Let the API server reject these operations of the user druidops on that object, until the context ends.

    Without a name all objects of the kind are meant.
    """
    everything = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": [*WRITES, "DELETE"]}
    everything["resources"] = ["*", "pods/eviction"]
    named = "true" if name is None else f"{_OBJECT}.metadata.name == '{name}'"
    refused = f"request.operation in {[*operations]} && {_OBJECT}.kind == '{kind}' && {named}"
    probed = f"{_OBJECT}.kind == 'ConfigMap' && {_OBJECT}.metadata.name == '{PROBE}'"
    spec = {
        "matchConstraints": {"resourceRules": [everything]},
        "matchConditions": [{"name": "user", "expression": "request.userInfo.username == 'druidops'"}],
        "validations": [{"expression": f"!({refused}) && !({probed})", "message": WORDS}],
    }
    where = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": live.namespace}}}
    binding = {"policyName": live.namespace, "validationActions": ["Deny"], "matchResources": where}
    live.plane.request("POST", POLICIES, {"metadata": {"name": live.namespace}, "spec": spec})
    live.plane.request("POST", BINDINGS, {"metadata": {"name": live.namespace}, "spec": binding})
    try:
        eventually(lambda: is_enforced(live))
        yield
    finally:
        live.plane.request("DELETE", f"{BINDINGS}/{live.namespace}")
        live.plane.request("DELETE", f"{POLICIES}/{live.namespace}")
    eventually(lambda: not is_enforced(live))


def is_enforced(live: NamespaceClient) -> bool:
    """True while the policy is in effect."""
    body = {"metadata": {"name": PROBE, "namespace": live.namespace}}
    try:
        live.plane.request("POST", f"{live.path('ConfigMap')}?dryRun=All", body, user="druidops")
    except ApiError as error:
        return WORDS in error.message
    return False


def limit(live: NamespaceClient, what: str, amount: int | str) -> None:
    """Set a quota, and wait until the API server enforces it."""
    # It counts, too, and comes a moment after its namespace.
    eventually(lambda: live.find("ConfigMap", "kube-root-ca.crt"))
    hard = {what: str(amount), "count/podtemplates": "0"}
    live.plane.request("POST", _quotas(live), {"metadata": {"name": "limit"}, "spec": {"hard": hard}})
    eventually(lambda: _is_limited(live))


def _is_limited(live: NamespaceClient) -> bool:
    """True if the quota is enforced: before that, it or its usage is unknown."""
    pod = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": PROBE, "image": "example.com/probe"}]}}
    path = f"/api/v1/namespaces/{live.namespace}/podtemplates?dryRun=All"
    try:
        live.plane.request("POST", path, {"metadata": {"name": PROBE}, "template": pod})
    except ApiError as error:
        return "exceeded quota" in error.message
    return False


def no_limit(live: NamespaceClient) -> None:
    """Remove the quota."""
    live.plane.request("DELETE", f"{_quotas(live)}/limit")


def _quotas(live: NamespaceClient) -> str:
    return f"/api/v1/namespaces/{live.namespace}/resourcequotas"
