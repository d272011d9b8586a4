# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the module supervisor_info tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import SUPERVISORS, supervisor_path
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_status import (
    bounded_errors,
    status_of,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.datasource import datasource_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import canonical
from ansible_collections.druidops.druid.plugins.module_utils._spec_masking import hidden, masked


def supervisors(client: DruidClient, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the supervisors that the module's parameters ask for, by id; no secret is in them."""
    found = client.get(SUPERVISORS, params={"full": "true"})
    described = [(_described(each), each["spec"]) for each in sorted(found, key=lambda each: str(each["id"]))]
    return [_with_more(client, each, spec, params) for each, spec in described if _is_asked_for(each, params)]


def _described(supervisor: Mapping[str, Any]) -> dict[str, Any]:
    spec = canonical(supervisor["spec"])
    return {
        "id": supervisor["id"],
        "type": spec.get("type"),
        "datasource": datasource_of(spec),
        # what the list itself says of suspension is always false
        "suspended": bool(spec.get("suspended")),
        "state": supervisor.get("state"),
        "detailed_state": supervisor.get("detailedState"),
        "healthy": supervisor.get("healthy"),
        "spec": masked(spec),
    }


def _is_asked_for(supervisor: Mapping[str, Any], params: Mapping[str, Any]) -> bool:
    states = (supervisor["state"], supervisor["detailed_state"])
    return (
        params["id"] in (None, supervisor["id"])
        and params["datasource"] in (None, supervisor["datasource"])
        and (params["state"] is None or params["state"] in states)
    )


def _with_more(
    client: DruidClient, supervisor: dict[str, Any], spec: Mapping[str, Any], params: Mapping[str, Any]
) -> dict[str, Any]:
    identifier = supervisor["id"]
    if params["status"]:
        payload = status_of(client, identifier).get("payload") or {}
        supervisor["lag"] = payload.get("aggregateLag")
        supervisor["status"] = hidden(bounded_errors(payload), spec)
    if params["history"]:
        versions = client.get(supervisor_path(identifier, "history"))
        newest = versions[: params["history"]]
        supervisor["history"] = masked([{**each, "spec": canonical(each.get("spec") or {})} for each in newest])
    return supervisor
