# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a resource specifies of its connection to Druid: the Secrets that it references. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, Protocol

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import (
    Finding,
    is_allowed,
    not_permitted,
)

# The field of the only Secret that is not sent to Druid.
CA_FIELD = "spec.endpoint.caSecretRef"


class DruidTarget(Protocol):
    """A resource that specifies how to connect to Druid, in the shape of the CRD; `{}` if it does not."""

    @property
    def namespace(self) -> str:
        """The namespace of Secrets that are referenced without one."""

    @property
    def auth(self) -> Mapping[str, Any]:
        """The type of the credentials, and their Secret."""

    @property
    def endpoint(self) -> Mapping[str, Any]:
        """The Secrets with the trusted CA certificates, and with a client certificate."""


class SecretKey(NamedTuple):
    """A Secret that a resource references, and the field that does so."""

    namespace: str
    name: str
    field: str


def secrets_of(target: DruidTarget) -> tuple[SecretKey, ...]:
    """Return the Secrets that the resource references."""
    own = target.namespace
    named = (
        (_part(target.auth, "secretRef"), "spec.auth.secretRef"),
        ({**_part(target.endpoint, "caSecretRef"), "namespace": own}, CA_FIELD),
        (
            {**_part(target.endpoint, "clientCertificateSecretRef"), "namespace": own},
            "spec.endpoint.clientCertificateSecretRef",
        ),
    )
    return tuple(
        SecretKey(str(each.get("namespace") or own), str(each["name"]), place)
        for each, place in named
        if each.get("name")
    )


def _part(specified: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a mapping in it; the spec of a terminating resource is not validated."""
    found = specified.get(name)
    return found if isinstance(found, Mapping) else {}


def disallowed_secret(keys: Collection[SecretKey], own: str, allowed: Collection[str]) -> Finding | None:
    """Return a finding if a reference to a Secret is not permitted."""
    foreign = next((key for key in keys if not is_allowed(key.namespace, own, allowed)), None)
    return foreign and not_permitted(foreign.field, "Secret", foreign.name, foreign.namespace)
