# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hints for rejected requests, by status, path and connection settings. Pure."""

from __future__ import annotations

from typing import NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._http.connection import Connection


class Permission(NamedTuple):
    """The permission that Druid requires below a path."""

    below: str
    resource: str


# The first match applies (Druid's resource filters; docs: operations/security-user-auth.md).
PERMISSIONS = (
    Permission("/druid-ext/basic-security", "CONFIG security"),
    Permission("/druid/indexer/v1/worker", "CONFIG CONFIG"),
    Permission("/druid/indexer/v1/k8s", "CONFIG CONFIG"),
    Permission("/druid/indexer/v1/supervisor", "DATASOURCE of that supervisor"),
    Permission("/druid/indexer/v1/task", "DATASOURCE of that task"),
    Permission("/druid/indexer/v1/compaction", "DATASOURCE, and CONFIG for the cluster's settings,"),
    Permission("/druid/coordinator/v1/datasources", "DATASOURCE of that name"),
    Permission("/druid/coordinator/v1/metadata", "DATASOURCE of that name"),
    Permission("/druid/coordinator/v1/rules", "DATASOURCE of that name"),
    Permission("/druid/coordinator/v1", "CONFIG CONFIG"),
    Permission("/druid/v2/sql", "DATASOURCE of each table, and EXTERNAL for external data,"),
    Permission("/status", "STATE STATE"),
)


def of_unauthorized(connection: Connection) -> str:
    """Return a hint that names the missing or wrong option."""
    if connection.token:
        return "Druid does not accept the token. Check the option token (DRUID_TOKEN) and whether it has expired"
    if connection.username is not None:
        return "Check the options username and password (DRUID_USERNAME, DRUID_PASSWORD)"
    return "Set the options username and password (DRUID_USERNAME, DRUID_PASSWORD), or token (DRUID_TOKEN)"


def of_forbidden(connection: Connection, method: str, path: str) -> str:
    """Return a hint that names the missing permission."""
    user = f"The user {connection.username}" if connection.username else "The user"
    action = "READ" if method == "GET" else "WRITE"
    resource = next(
        (permission.resource for permission in PERMISSIONS if f"{path}/".startswith(f"{permission.below}/")), None
    )
    if resource is None:
        return f"{user} lacks a permission"
    also = ", or WRITE before Druid 38" if path == "/druid/indexer/v1/supervisor" and action == "READ" else ""
    return f"{user} needs the permission {action} on {resource}{also}".rstrip(",")


def of_unknown_path(service: str) -> str:
    """Return a hint that names the kind of server to use."""
    return (
        f"This server does not serve the API of the {service}. If it is a Router, enable its management proxy "
        "(druid.router.managementProxy.enabled=true), or set the option url to the Coordinator or the Overlord"
    )


def of_redirect(target: str) -> str:
    """Return a hint on how to allow the target of a redirect."""
    return (
        f"{target} is neither listed in the option url nor reported as leader by this server, so nothing was sent "
        "to it. If the target is correct, add it to url"
    )
