# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of an ingestion, and the connection to Druid that they, the resource and its Secrets specify."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import router
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import (
    ConnectionDetails,
    Timeouts,
    author_limits,
    connection_details,
    to_timeouts,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import ConnectionUnavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons, request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads

ARGUMENTS: Mapping[str, Any] = {
    "url": {"type": "str"},
    "allowed_endpoint_hosts": {"type": "list", "elements": "str", "default": []},
    "read_timeout": {"type": "float", "default": 120.0, "aliases": ["timeout"]},
    "retry_timeout": {"type": "float", "default": 30.0},
    # as in the modules, whose options import Ansible
    "unknown_fields": {"type": "str", "choices": ["warn", "fail"], "default": "warn"},
}


@dataclass(frozen=True)
class Options(request.Options):
    """Options of a reconcile of an ingestion."""

    timeouts: Timeouts = field(default_factory=Timeouts)
    # A field that Druid does not know is a problem, not a warning.
    is_strict: bool = False


def to_options(arguments: Mapping[str, Any], check_mode: bool, meter: Meter) -> Options:
    """Return the options of a reconcile from the arguments of the action."""
    return Options(
        check_mode=check_mode,
        allowed_reference_namespaces=tuple(arguments["allowed_reference_namespaces"]),
        allowed_endpoint_hosts=tuple(arguments["allowed_endpoint_hosts"]),
        url=arguments["url"],
        refuse_own_host=arguments["refuse_own_host"],
        timeouts=to_timeouts(arguments),
        is_strict=arguments["unknown_fields"] == "fail",
        meter=meter,
    )


def druid_connection(reads: Reads, ingestion: Ingestion, found: Observed, options: Options) -> ConnectionDetails:
    """Return how to connect to Druid; ConnectionUnavailable names what is missing."""
    if options.url:
        return connection_details(ingestion, options.url, found.secrets)
    return connection_details(ingestion, _url(ingestion, found), found.secrets, author_limits(reads, options))


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
