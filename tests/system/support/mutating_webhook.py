# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A mutating admission webhook on loopback: it works on every version of Kubernetes, as policies do not."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest, NamespaceClient

_CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
_RESOURCES = [
    "configmaps",
    "services",
    "statefulsets",
    "deployments",
    "ingresses",
    "poddisruptionbudgets",
    "horizontalpodautoscalers",
    "persistentvolumeclaims",
]
ALWAYS = ("CREATE", "UPDATE")

Mutate = Callable[[Manifest], None]


@contextmanager
def mutating(
    live: NamespaceClient, mutate: Mutate, user: str = "", operations: Sequence[str] = ALWAYS
) -> Iterator[None]:
    """Change every object that the user, or any client, creates or updates in the namespace, until the context ends."""
    with _served(live, mutate) as url:
        configuration = _configuration(live, url, user, operations)
        live.plane.request("POST", _CONFIGURATIONS, configuration)
        try:
            _wait_until_it_is_called(live, user or "druidops")
            yield
        finally:
            live.plane.request("DELETE", f"{_CONFIGURATIONS}/{live.namespace}")


@contextmanager
def _served(live: NamespaceClient, mutate: Mutate) -> Iterator[str]:
    """Yield the URL of the webhook, which has the certificate of the API server: it is for this address, too."""
    directory = live.plane.ca_file.parent
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(directory / "apiserver.crt", directory / "apiserver.key")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(mutate))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _configuration(live: NamespaceClient, url: str, user: str, operations: Sequence[str]) -> Manifest:
    authority = base64.b64encode(live.plane.ca_file.read_bytes()).decode()
    everything = {"operations": [*operations], "apiGroups": ["*"], "apiVersions": ["*"], "resources": _RESOURCES}
    probed = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["serviceaccounts"]}
    webhook = {
        "name": "changes.example.com",
        "clientConfig": {"url": url, "caBundle": authority},
        "rules": [everything, probed],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": live.namespace}},
        "matchConditions": [{"name": "user", "expression": f"request.userInfo.username == '{user}' || '{user}' == ''"}],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "reinvocationPolicy": "Never",
    }
    return {"metadata": {"name": live.namespace}, "webhooks": [webhook]}


def _wait_until_it_is_called(live: NamespaceClient, user: str) -> None:
    def is_called() -> bool:
        path = f"/api/v1/namespaces/{live.namespace}/serviceaccounts?dryRun=All"
        changed: Manifest = live.plane.request("POST", path, {"metadata": {"name": "probe"}}, user=user)
        return bool(changed["metadata"].get("labels"))

    eventually(is_called)


def _handler(mutate: Mutate) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = json.dumps({**review, "request": None, "response": _response(review["request"], mutate)}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_arguments: Any) -> None:
            """Log nothing: the audit log has it."""

    return Handler


def _response(request: dict[str, Any], mutate: Mutate) -> dict[str, Any]:
    before = request["object"]
    after = deepcopy(before)
    if before["kind"] == "ServiceAccount":
        after["metadata"]["labels"] = {"probe": "seen"}
    else:
        mutate(after)
    patch = [
        {"op": "add", "path": f"/{name}", "value": value} for name, value in after.items() if before.get(name) != value
    ]
    encoded = base64.b64encode(json.dumps(patch).encode()).decode()
    return {"uid": request["uid"], "allowed": True, "patchType": "JSONPatch", "patch": encoded}
