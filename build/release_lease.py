# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Release the Lease of an operator that has ended, in its pod: PUT .../leases/NAME (coordination.k8s.io/v1).

Usage: release-lease FLAG... (those of ansible-operator)

Nothing is released unless this pod holds the Lease. The holder is HOSTNAME_UUID, and only a pod whose host name is its
own name (POD_NAME) is sure to be this holder: with `hostNetwork`, several pods have the name of the node.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import socket
import ssl
import sys
from collections.abc import Mapping
from typing import Any

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
TIMEOUT_SECONDS = 5
# That of client-go: an empty holder, and a duration that is valid.
_RELEASED = {"holderIdentity": "", "leaseDurationSeconds": 1}


def main() -> None:
    """Release it; a message if that fails, since the next operator then waits until the Lease expires."""
    path = lease_path(sys.argv[1:])
    if not path or not is_own_host(os.environ, socket.gethostname()):
        return
    try:
        lease = _request("GET", path)
        if is_held(lease, socket.gethostname()):
            _request("PUT", path, {**lease, "spec": {**lease["spec"], **_RELEASED}})
    except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
        sys.exit(f"release-lease: {path} was not released and expires: {error}")


def lease_path(flags: list[str]) -> str:
    """Return the path of the Lease that these flags of ansible-operator name; empty without leader election."""
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False, exit_on_error=False)
    parser.add_argument("--leader-elect", nargs="?", const="true", default="false")
    parser.add_argument("--leader-election-id", default="")
    parser.add_argument("--leader-election-namespace", default="")
    found = parser.parse_known_args(flags)[0]
    if found.leader_elect.lower() not in ("true", "t", "1") or not found.leader_election_id:
        return ""
    namespace = found.leader_election_namespace or _read("namespace")
    return f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{found.leader_election_id}"


def is_own_host(environment: Mapping[str, str], host: str) -> bool:
    """True in a pod whose host name no other pod has."""
    return bool(environment.get("KUBERNETES_SERVICE_HOST")) and environment.get("POD_NAME") == host


def is_held(lease: Mapping[str, Any], host: str) -> bool:
    """True if the Lease is held by the operator that ran here."""
    return str(lease["spec"].get("holderIdentity") or "").rpartition("_")[0] == host


def _request(method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Send a request to the API server; the Lease's resourceVersion is in the body, so that no other holder is lost."""
    context = ssl.create_default_context(cafile=os.path.join(ACCOUNT, "ca.crt"))
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], int(os.environ.get("KUBERNETES_SERVICE_PORT") or 443)
    connection = http.client.HTTPSConnection(host, port, timeout=TIMEOUT_SECONDS, context=context)
    headers = {"Authorization": f"Bearer {_read('token')}", "Content-Type": "application/json"}
    try:
        connection.request(method, path, json.dumps(body) if body else None, headers)
        response = connection.getresponse()
        if response.status != 200:
            raise OSError(f"{method} returned {response.status} {response.reason}")
        found: dict[str, Any] = json.load(response)
        return found
    finally:
        connection.close()


def _read(name: str) -> str:
    with open(os.path.join(ACCOUNT, name), encoding="utf-8") as file:
        return file.read().strip()


if __name__ == "__main__":
    main()
