# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster with two workers that are drained: simulated pods, and a server that knows their workers as Druid does."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi, Transport
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import cluster_request, connection, run
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
)
from ansible_collections.druidops.druid.tests.system.support.small_cluster import resource
from testbed.control_plane import ControlPlane
from testbed.pytest_plugin import new_namespace

NAME, SET = "drained", "druid-drained-workers"
OLD, NEW = "apache/druid:32.0.0", "apache/druid:33.0.0"
RECORD = "druid.apache.org/drain"


@dataclass
class Overlord:
    """The workers of the pods: each process has the uid of its pod, and is enabled when it starts."""

    live: NamespaceClient
    tasks: dict[str, list[str]] = field(default_factory=dict)
    disabled: set[str] = field(default_factory=set)
    writes: list[str] = field(default_factory=list)
    is_forbidden: bool = False

    def answer(self, method: str, path: str) -> Any:
        """The response to a request; None if there is no such path."""
        if method == "GET":
            known = {
                "/druid/indexer/v1/isLeader": lambda: {"leader": True},
                "/druid/indexer/v1/workers": self._workers,
                "/status": lambda: {"version": "33.0.0"},
            }
            found = known.get(path.partition("?")[0])
            return found() if found else None
        if request := re.fullmatch(r"/druid/indexer/v1/worker/([^/:]+):8091/(enable|disable)", path):
            self.writes.append(f"{request[2]} {request[1]}")
            change = self.disabled.add if request[2] == "disable" else self.disabled.discard
            change(self.live.get("Pod", request[1])["metadata"]["uid"])
            return {}
        return None

    def _workers(self) -> list[dict[str, Any]]:
        pods = [pod for pod in self.live.list("Pod") if condition_of(pod) == "True"]
        return [
            {
                "worker": {
                    "host": f"{pod['metadata']['name']}:8091",
                    "version": "" if pod["metadata"]["uid"] in self.disabled else "0",
                    "capacity": 2,
                },
                "runningTasks": self.tasks.get(pod["metadata"]["uid"], []),
            }
            for pod in pods
        ]


def condition_of(pod: Manifest) -> str:
    found = pod.get("status", {}).get("conditions") or ()
    return next((each["status"] for each in found if each["type"] == "Ready"), "False")


def server_of(overlord: Overlord) -> ThreadingHTTPServer:
    """A server in the place of the router."""

    class Handler(BaseHTTPRequestHandler):
        def respond(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found = None if overlord.is_forbidden else overlord.answer(self.command, self.path)
            body = b"" if found is None else json.dumps(found).encode()
            self.send_response(403 if overlord.is_forbidden else 404 if found is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = respond  # noqa: N815

        def log_message(self, *_arguments: Any) -> None:
            """Print nothing."""

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


class Killed(BaseException):
    """The operator is stopped."""


@dataclass
class KilledTransport:
    """Sends requests up to the deletion of the StatefulSet."""

    inner: Transport
    is_deleted: bool = False

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Send a request."""
        is_write = urlsplit(url).path.endswith(f"/statefulsets/{SET}") and "dryRun=" not in url
        if self.is_deleted and is_write and method == "PATCH":
            raise Killed
        self.is_deleted = self.is_deleted or (is_write and method == "DELETE")
        return self.inner.request(method, url, **arguments)


@dataclass(frozen=True)
class Drained:
    """A cluster with two workers."""

    live: NamespaceClient
    overlord: Overlord
    url: str

    def reconcile(self, api: KubernetesApi | None = None) -> Outcome:
        """Reconcile as a task without `wait` does."""
        options = Options(url=self.url, timeouts=Timeouts(read_timeout=10, retry_timeout=0))
        request = cluster_request(NAME, self.live.namespace, options=options)
        return run(api or connection(self.live), request, lambda _text: None, Clock())

    def is_killed_before_it_recreates(self) -> bool:
        """Reconcile, but not beyond the deletion of the StatefulSet; return whether it came to that."""
        api = connection(self.live)
        api.transport = KilledTransport(api.transport)
        try:
            self.reconcile(api)
        except Killed:
            return True
        return False

    def is_ready(self) -> bool:
        report = self.reconcile().report
        return report is not None and report.is_ready

    def specify(self, **spec: Any) -> None:
        self.live.merge("Druid", NAME, {"spec": spec})

    @property
    def drain(self) -> dict[str, Any]:
        found: dict[str, Any] = self.live.get("Druid", NAME).get("status", {}).get("middleManagerDrain") or {}
        return found

    @property
    def workload(self) -> Manifest:
        return self.live.get("StatefulSet", SET)

    @property
    def partition(self) -> int:
        return int(self.workload["spec"]["updateStrategy"]["rollingUpdate"]["partition"])

    def condition(self, kind: str) -> str:
        """The message of a condition of this type; empty if there is none."""
        conditions = self.live.get("Druid", NAME).get("status", {}).get("conditions") or ()
        return next((str(each.get("message")) for each in conditions if each["type"] == kind), "")

    def uid(self, ordinal: int) -> str:
        found = self.live.find("Pod", f"{SET}-{ordinal}")
        return str(found["metadata"]["uid"]) if found else ""


@contextmanager
def drained_cluster(control_plane: ControlPlane) -> Iterator[Drained]:
    """Yield the cluster when it is ready."""
    with new_namespace(control_plane) as namespace:
        live = NamespaceClient(control_plane, namespace)
        overlord = Overlord(live)
        server = server_of(overlord)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            found = Drained(live, overlord, f"http://127.0.0.1:{server.server_port}")
            live.create(resource(NAME, specification()))
            eventually(found.is_ready)
            yield found
        finally:
            server.shutdown()
            server.server_close()


def specification() -> dict[str, Any]:
    """Return the spec of the cluster."""
    workers = {
        "nodeType": "middleManager",
        "druid.port": 8091,
        "nodeConfigMountPath": "/opt/druid/conf",
        "runtime.properties": "a=b",
        "replicas": 2,
    }
    fields = {"image": OLD, "common.runtime.properties": "a=b", "nodes": {"workers": workers}}
    return {**fields, "middleManagerDrainStrategy": {}}
