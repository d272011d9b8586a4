# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How Druid is reached for an ingestion: its address from the cluster or the endpoint, credentials from Secrets."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import router
from ansible_collections.druidops.druid.plugins.plugin_utils._druid.access import Access, NoAccess, access
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.settings import Settings
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion


def reach(ingestion: Ingestion, found: Observed, settings: Settings) -> Access:
    """Return how Druid is spoken to; NoAccess says what is missing for that."""
    return access(ingestion, settings.url or _url(ingestion, found), found.secrets)


def _url(ingestion: Ingestion, found: Observed) -> str:
    if ingestion.cluster is None:
        return _stated(ingestion)
    if found.cluster is None:
        where = f"namespace {ingestion.namespace}"
        message = f"spec.druidCluster: there is no Druid {ingestion.cluster} in {where}. Create it, or mend the name."
        raise NoAccess(reasons.CLUSTER_NOT_FOUND, message)
    try:
        return router.address(
            found.cluster,
            found.services,
            prefers_tls="caSecretRef" in ingestion.endpoint,
            otherwise="state endpoint.url in its place",
        )
    except router.NoRouter as error:
        raise NoAccess(reasons.ROUTER_NOT_FOUND, f"spec.druidCluster: {error}") from error


def _stated(ingestion: Ingestion) -> str:
    url: str | None = ingestion.endpoint.get("url")
    if url is None:
        # of one that is being deleted nobody has looked whether it is valid
        raise NoAccess(reasons.INVALID_SPEC, "spec.druidCluster: neither it nor endpoint.url names a Druid.")
    return url
