# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a cluster connects to its own Druid: the address, and the Secrets that it needs. No request is sent to Druid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import router
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, ReferenceKey
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import (
    ConnectionDetails,
    ConnectionUnavailable,
    author_limits,
    connection_details,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import (
    SecretKey,
    disallowed_secret,
    secrets_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

Secrets = Mapping[ReferenceKey, Manifest | None]


@dataclass(frozen=True)
class DruidAccess:
    """How to connect, or why that is not possible.

    `secrets` are those that were read for it: their values are masked in messages (see `with_secrets`).
    """

    found: ConnectionDetails | Finding
    secrets: Secrets = field(default_factory=dict)

    def with_secrets(self, observed: Observed) -> Observed:
        """Return the observed objects with these Secrets, so that their values are masked."""
        return replace(observed, references={**observed.references, **self.secrets})


def druid_access(
    api: KubernetesApi, resource: Manifest, cluster: Cluster, observed: Observed, options: Options, purpose: str
) -> DruidAccess:
    """Read the Secrets, and return how to connect. `purpose` is what needs the connection, such as a field."""
    keys = secrets_of(cluster)
    refusal = disallowed_secret(keys, cluster.namespace, options.allowed_reference_namespaces)
    if refusal is not None:
        return DruidAccess(refusal)
    try:
        read = {key: api.get("Secret", key.namespace, key.name) for key in keys}
    except KubernetesError as error:
        return DruidAccess(Finding(reasons.OBSERVE_FAILED, str(error)))
    secrets = {ReferenceKey("Secret", key.namespace, key.name): live for key, live in read.items()}
    try:
        return DruidAccess(_details(api, resource, cluster, observed, options, purpose, read), secrets)
    except ConnectionUnavailable as error:
        return DruidAccess(error.finding, secrets)


def _details(
    api: KubernetesApi,
    resource: Manifest,
    cluster: Cluster,
    observed: Observed,
    options: Options,
    purpose: str,
    secrets: Mapping[SecretKey, Manifest | None],
) -> ConnectionDetails:
    if options.url:
        return connection_details(cluster, options.url, secrets)
    url = cluster.endpoint.get("url") or _router(resource, cluster, observed, purpose)
    return connection_details(cluster, url, secrets, author_limits(api, options))


def _router(resource: Manifest, cluster: Cluster, observed: Observed, purpose: str) -> str:
    try:
        return router.address(
            resource,
            observed.of_kind("Service"),
            prefers_tls="caSecretRef" in cluster.endpoint,
            remedy="set the address of Druid (spec.endpoint.url, or the option url of this task)",
        )
    except router.RouterNotFound as error:
        raise ConnectionUnavailable(reasons.ROUTER_NOT_FOUND, f"{purpose}: {error}") from error
