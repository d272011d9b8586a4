# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of a reconcile that connects to Druid, and the connection that they, the resource and Secrets specify."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import router
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import (
    ConnectionDetails,
    author_limits,
    connection_details,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import ConnectionUnavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts, to_timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import DruidObject
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.state import Surroundings
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons, request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads

ARGUMENTS: Mapping[str, Any] = {
    "url": {"type": "str"},
    "allowed_endpoint_hosts": {"type": "list", "elements": "str", "default": []},
    "read_timeout": {"type": "float", "default": 120.0, "aliases": ["timeout"]},
    "retry_timeout": {"type": "float", "default": 30.0},
}


@dataclass(frozen=True)
class Options(request.Options):
    """Options of a reconcile of a resource that describes something in a Druid."""

    timeouts: Timeouts = field(default_factory=Timeouts)


def common_options(arguments: Mapping[str, Any], check_mode: bool, meter: Meter) -> dict[str, Any]:
    """Return the fields of the options from the arguments of the action."""
    return {
        "check_mode": check_mode,
        "allowed_reference_namespaces": tuple(arguments["allowed_reference_namespaces"]),
        "allowed_endpoint_hosts": tuple(arguments["allowed_endpoint_hosts"]),
        "url": arguments["url"],
        "refuse_own_host": arguments["refuse_own_host"],
        "timeouts": to_timeouts(arguments),
        "meter": meter,
    }


def druid_connection(
    reads: Reads, resource: DruidObject, found: Surroundings[Any], options: Options
) -> ConnectionDetails:
    """Return how to connect to Druid; ConnectionUnavailable names what is missing."""
    if options.url:
        return connection_details(resource, options.url, found.secrets)
    return connection_details(resource, _url(resource, found), found.secrets, author_limits(reads, options))


def _url(resource: DruidObject, found: Surroundings[Any]) -> str:
    if resource.cluster is None:
        return _endpoint_url(resource)
    if found.cluster is None:
        where = f"namespace {resource.namespace}"
        message = f"spec.druidCluster: there is no Druid {resource.cluster} in {where}. Create it, or fix the name."
        raise ConnectionUnavailable(reasons.CLUSTER_NOT_FOUND, message)
    try:
        return router.address(
            found.cluster,
            found.services,
            prefers_tls="caSecretRef" in resource.endpoint,
            remedy="set endpoint.url instead of druidCluster",
        )
    except router.RouterNotFound as error:
        raise ConnectionUnavailable(reasons.ROUTER_NOT_FOUND, f"spec.druidCluster: {error}") from error


def _endpoint_url(resource: DruidObject) -> str:
    url: str | None = resource.endpoint.get("url")
    if url is None:
        # the spec of a terminating resource is not validated
        raise ConnectionUnavailable(reasons.INVALID_SPEC, "spec.druidCluster: set druidCluster or endpoint.url.")
    return url
