# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Errors of the Kubernetes API: one hierarchy, caught at the edge."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

BAD_REQUEST = 400
FORBIDDEN = 403
NOT_FOUND = 404
CONFLICT = 409
UNPROCESSABLE = 422
SERVER_ERROR = 500


class DruidopsError(Exception):
    """An error for the user. The message names the object, the cause and the remedy."""


class KubernetesError(DruidopsError):
    """A request to the Kubernetes API failed."""


class Unreachable(KubernetesError):
    """The API server did not respond."""

    def __init__(self, verb: str, resource: str, name: str | None, server: str, cause: Exception) -> None:
        self.cause = cause
        super().__init__(
            f"Cannot {verb} {resource}{_named(name)}: the Kubernetes API at {server} did not respond "
            f"({_innermost(cause)}). {_DISTRUSTED if _UNVERIFIED in str(cause) else _UNREACHED}"
        )


_UNREACHED = "Check the address (kubeconfig, context, host), the network, the proxy and the certificates."
# The text in every certificate error of Python's ssl.
_UNVERIFIED = "CERTIFICATE_VERIFY_FAILED"
_DISTRUSTED = (
    "Its certificate cannot be verified: set ca_cert (K8S_AUTH_SSL_CA_CERT), or the kubeconfig's "
    "certificate-authority, to the CA that signed it, and host to a name in the certificate; "
    "renew one that has expired."
)


class TooDeep(KubernetesError):
    """The server's response is nested more deeply than Python can parse. The message does not quote it."""

    def __init__(self, verb: str, kind: str, namespace: str | None, name: str | None) -> None:
        where = f" in namespace {namespace}" if namespace else ""
        what = f"{kind}{_named(name)}" if name else f"objects of kind {kind}"
        super().__init__(
            f"Cannot read the API server's response to {verb} {what}{where}: it is nested too deeply, with "
            "hundreds of levels of mappings and lists. Remove these, or the object that has them."
        )


class ApiError(KubernetesError):
    """The server rejected the request (Kubernetes Status object)."""

    def __init__(
        self,
        verb: str,
        resource: str,
        kind: str,
        namespace: str | None,
        name: str | None,
        status: int,
        document: Mapping[str, Any],
    ) -> None:
        self.verb, self.resource, self.kind, self.namespace, self.name = verb, resource, kind, namespace, name
        self.status, self.document = status, document
        where = f" in namespace {namespace}" if namespace else ""
        # A server without the kind responds in plain text: 404 page not found.
        message = self.message.removeprefix(f"{status} ")
        super().__init__(f"Cannot {verb} {kind}{_named(name)}{where}: {status} {message}{self._remedy()}")

    @property
    def message(self) -> str:
        """The server's message."""
        message = str(self.document.get("message") or self.document.get("reason") or "no message")
        # Some messages end with a dump of the whole object, or with unchecked rules, which are not errors.
        return _UNCHECKED.sub("", message.partition("\n@@")[0])

    @property
    def is_missing_object(self) -> bool:
        """True when the kind exists, but not the object: without the kind the server names no object."""
        return self.status == NOT_FOUND and bool((self.document.get("details") or {}).get("name"))

    @property
    def is_missing_kind(self) -> bool:
        return self.status == NOT_FOUND and not self.is_missing_object

    @property
    def is_missing_namespace(self) -> bool:
        return self.status == NOT_FOUND and (self.document.get("details") or {}).get("kind") == "namespaces"

    @property
    def is_failed_patch_test(self) -> bool:
        """True when the `test` of a JSON patch failed: the object was replaced or modified."""
        failed = self.verb == "patch" and self.status == UNPROCESSABLE and not self.causes
        return failed and self.message.startswith(_PATCH_FAILED)

    @property
    def is_conflict(self) -> bool:
        """True when the object was replaced or modified since it was read."""
        return (
            self.status == CONFLICT
            or self.is_failed_patch_test
            or any(path == "metadata.uid" for path, _message in self.causes)
        )

    @property
    def is_namespace_terminating(self) -> bool:
        """True when nothing can be created in the namespace because it is terminating."""
        causes = (self.document.get("details") or {}).get("causes") or ()
        return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)

    @property
    def causes(self) -> tuple[tuple[str, str], ...]:
        """(field, message) of each cause in the server's message."""
        causes = (self.document.get("details") or {}).get("causes") or ()
        return tuple((cause.get("field", ""), cause.get("message", "")) for cause in causes)

    def _remedy(self) -> str:
        if self.is_missing_kind and self.resource.endswith("druid.apache.org"):
            return (
                f". The CRD {self.resource} is not installed: run the playbook druidops.druid.install_crds "
                "or apply config/crd."
            )
        if self.is_missing_namespace:
            return ". Create the namespace first, or name another one."
        remedy = _REMEDIES.get(self.status)
        return f". {remedy.format(verb=self._missing_verb, resource=self.resource)}" if remedy else ""

    @property
    def _missing_verb(self) -> str:
        """The verb that the user lacks: the apply of an object that does not exist needs patch and create."""
        named = _LACKED_VERB.search(self.message)
        return named[1] if named else self.verb


# kube-apiserver: statefulsets.apps is forbidden: User "u" cannot create resource "statefulsets" in API group ...
_LACKED_VERB = re.compile(r'User ".*" cannot (\w+) resource "')
_UNCHECKED = re.compile(r', <nil>: Invalid value: "?null"?: some validation rules were not checked[^\]]*')
# The server's message for a failed JSON patch.
_PATCH_FAILED = "the server rejected our request due to an error in our request"
_REMEDIES = {
    200: "This is not a response of a Kubernetes API. Check the address (kubeconfig, context, host) and the proxy.",
    401: "Check the credentials (token, client certificate, exec plugin).",
    409: "The object was modified concurrently. Retry.",
    403: "The user needs the verb {verb} on {resource} (RBAC), or an admission policy forbids it.",
}


def _named(name: str | None) -> str:
    return f" {name}" if name else ""


def _innermost(error: BaseException) -> str:
    """Return the innermost cause: urllib3 wraps it several times."""
    reason = getattr(error, "reason", None)
    return _innermost(reason) if isinstance(reason, BaseException) else f"{type(error).__name__}: {error}"


class ResourceNotFound(DruidopsError):
    """The named resource does not exist."""
