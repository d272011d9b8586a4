# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection to Druid for an ingestion: address from the cluster or the endpoint, credentials from Secrets."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import router
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import (
    ConnectionDetails,
    ConnectionUnavailable,
    author_limits,
    connection_details,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons


def druid_connection(api: KubernetesApi, ingestion: Ingestion, found: Observed, options: Options) -> ConnectionDetails:
    """Return how to connect to Druid; ConnectionUnavailable names what is missing."""
    if options.url:
        return connection_details(ingestion, options.url, found.secrets)
    return connection_details(ingestion, _url(ingestion, found), found.secrets, author_limits(api, options))


def _url(ingestion: Ingestion, found: Observed) -> str:
    if ingestion.cluster is None:
        return _endpoint_url(ingestion)
    if found.cluster is None:
        where = f"namespace {ingestion.namespace}"
        message = f"spec.druidCluster: there is no Druid {ingestion.cluster} in {where}. Create it, or fix the name."
        raise ConnectionUnavailable(reasons.CLUSTER_NOT_FOUND, message)
    try:
        return router.address(
            found.cluster,
            found.services,
            prefers_tls="caSecretRef" in ingestion.endpoint,
            remedy="set endpoint.url instead of druidCluster",
        )
    except router.RouterNotFound as error:
        raise ConnectionUnavailable(reasons.ROUTER_NOT_FOUND, f"spec.druidCluster: {error}") from error


def _endpoint_url(ingestion: Ingestion) -> str:
    url: str | None = ingestion.endpoint.get("url")
    if url is None:
        # the spec of a terminating resource is not validated
        raise ConnectionUnavailable(reasons.INVALID_SPEC, "spec.druidCluster: set druidCluster or endpoint.url.")
    return url
