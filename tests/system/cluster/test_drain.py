# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Drains on a real API server with simulated pods; what Druid knows of their workers is simulated as well.

A real Druid in real pods is in tests/system/node.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import Outcome
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import cluster_request, connection, run
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
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
            known = {"/druid/indexer/v1/workers": self._workers, "/status": lambda: {"version": "33.0.0"}}
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
            body = json.dumps(found).encode()
            self.send_response(403 if overlord.is_forbidden else 404 if found is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = respond  # noqa: N815

        def log_message(self, *_arguments: Any) -> None:
            """Print nothing."""

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


@dataclass(frozen=True)
class Drained:
    """A cluster with two workers."""

    live: NamespaceClient
    overlord: Overlord
    url: str

    def reconcile(self) -> Outcome:
        """Reconcile as a task without `wait` does."""
        options = Options(url=self.url, timeouts=Timeouts(read_timeout=10, retry_timeout=0))
        request = cluster_request(NAME, self.live.namespace, options=options)
        return run(connection(self.live), request, lambda _text: None, Clock())

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


@pytest.fixture
def drained(control_plane: ControlPlane) -> Iterator[Drained]:
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
    workers = {
        "nodeType": "middleManager",
        "druid.port": 8091,
        "nodeConfigMountPath": "/opt/druid/conf",
        "runtime.properties": "a=b",
        "replicas": 2,
    }
    fields = {"image": OLD, "common.runtime.properties": "a=b", "nodes": {"workers": workers}}
    return {**fields, "middleManagerDrainStrategy": {}}


def test_one_worker_after_the_other_finishes_its_tasks(drained: Drained) -> None:
    first, last = drained.uid(0), drained.uid(1)
    drained.overlord.tasks = {first: ["a"], last: ["b"]}
    drained.specify(image=NEW)
    eventually(lambda: drained.reconcile() and drained.drain.get("message") == f"b still runs on pod {SET}-1.")
    assert (drained.partition, drained.uid(0), drained.uid(1)) == (2, first, last)
    assert drained.overlord.writes == [f"disable {SET}-1"]
    drained.overlord.tasks.pop(last)
    eventually(lambda: drained.reconcile() and drained.drain.get("message") == f"a still runs on pod {SET}-0.")
    assert drained.uid(0) == first
    assert drained.uid(1) != last
    drained.overlord.tasks.clear()
    eventually(drained.is_ready)
    assert drained.uid(0) != first
    assert drained.overlord.writes == [f"disable {SET}-1", f"disable {SET}-0"]
    assert (drained.partition, drained.drain) == (0, {})
    assert RECORD not in drained.workload["metadata"].get("annotations", {})
    assert not drained.reconcile().changed


def test_an_undone_change_leaves_no_disabled_worker(drained: Drained) -> None:
    first, last = drained.uid(0), drained.uid(1)
    drained.overlord.tasks = {last: ["b"]}
    drained.specify(image=NEW)
    eventually(lambda: drained.reconcile() and drained.drain.get("message") == f"b still runs on pod {SET}-1.")
    drained.specify(image=OLD)
    eventually(drained.is_ready)
    assert drained.overlord.writes == [f"disable {SET}-1", f"enable {SET}-1"]
    assert (drained.uid(0), drained.uid(1), drained.partition, drained.drain) == (first, last, 0, {})


def test_fewer_replicas_wait_for_tasks(drained: Drained) -> None:
    last = drained.uid(1)
    drained.overlord.tasks = {last: ["b"]}
    drained.specify(nodes={"workers": {"replicas": 1}})
    eventually(lambda: drained.reconcile() and drained.drain.get("message") == f"b still runs on pod {SET}-1.")
    assert (drained.workload["spec"]["replicas"], drained.uid(1)) == (2, last)
    drained.overlord.tasks.clear()
    eventually(drained.is_ready)
    assert (drained.workload["spec"]["replicas"], drained.uid(1)) == (1, "")


def test_a_drain_of_the_go_operator_is_taken_over(drained: Drained) -> None:
    """It has disabled a worker, raised the partition, and reported that; its task still runs."""
    first, last = drained.uid(0), drained.uid(1)
    drained.overlord.tasks, drained.overlord.disabled = {last: ["b"]}, {last}
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}

    def change(workload: Manifest) -> None:
        workload["spec"]["template"]["spec"]["containers"][0]["image"] = NEW
        workload["spec"]["updateStrategy"] = rolling

    drained.live.edit("StatefulSet", SET, change, "manager")
    theirs = {"statefulSet": SET, "phase": "Draining", "podName": f"{SET}-1", "podOrdinal": 1}
    body = {"status": {"middleManagerDrain": {**theirs, "lastTransitionTime": "2999-01-01T00:00:00Z"}}}
    path = f"{drained.live.path('Druid', NAME)}/status"
    drained.live.plane.request("PATCH", path, body, user="person", content_type="application/merge-patch+json")
    drained.specify(image=NEW)
    eventually(lambda: drained.reconcile() and drained.drain.get("message") == f"b still runs on pod {SET}-1.")
    assert (drained.uid(0), drained.uid(1), drained.overlord.writes) == (first, last, [])
    drained.overlord.tasks.clear()
    eventually(drained.is_ready)
    assert first != drained.uid(0)
    assert last != drained.uid(1)
    assert drained.overlord.writes == [f"disable {SET}-0"]
    assert (drained.partition, drained.drain) == (0, {})


def test_what_is_awaited_is_in_the_conditions(drained: Drained) -> None:
    drained.overlord.tasks = {drained.uid(1): ["b"]}
    drained.specify(image=NEW)
    expected = f"Draining group workers: b still runs on pod {SET}-1."
    eventually(
        lambda: (
            drained.reconcile()
            and expected in condition(drained.live.get("Druid", NAME), "Progressing").get("message", "")
        )
    )
    assert {each["reason"] for each in drained.live.list("Event")} >= {"WorkerDisabled"}


def test_a_druid_that_forbids_to_drain_is_a_warning(drained: Drained) -> None:
    last, warning = drained.uid(1), "Druid cannot be asked for the workers of group workers"
    drained.overlord.is_forbidden = True
    drained.specify(image=NEW)
    eventually(lambda: drained.reconcile() and warning in drained.condition("RolloutWarnings"))
    assert (drained.partition, drained.uid(1), drained.overlord.writes) == (2, last, [])
    drained.overlord.is_forbidden = False
    eventually(drained.is_ready)
    assert drained.overlord.writes == [f"disable {SET}-1", f"disable {SET}-0"]
    assert warning not in drained.condition("RolloutWarnings")


def test_several_workers_are_drained_at_the_same_time(drained: Drained) -> None:
    first, last = drained.uid(0), drained.uid(1)
    drained.overlord.tasks = {first: ["a"], last: ["b"]}
    drained.specify(image=NEW, middleManagerDrainStrategy={"maxUnavailable": "100%"})
    eventually(lambda: drained.reconcile() and len(drained.overlord.writes) == 2)
    assert drained.overlord.writes == [f"disable {SET}-1", f"disable {SET}-0"]
    drained.overlord.tasks.pop(first)
    waits = f"pod {SET}-0 waits for those after it"
    eventually(lambda: drained.reconcile() and waits in drained.drain.get("message", ""))
    assert (drained.partition, drained.uid(0), drained.uid(1)) == (2, first, last)
    drained.overlord.tasks.clear()
    eventually(drained.is_ready)
    assert first != drained.uid(0)
    assert last != drained.uid(1)
    assert len(drained.overlord.writes) == 2
    assert (drained.partition, drained.drain) == (0, {})


def test_pods_that_the_spec_has_kept_are_drained(drained: Drained) -> None:
    """They stay at the old revision with OnDelete; then the controller replaces them, each after its drain."""
    first, last = drained.uid(0), drained.uid(1)
    drained.specify(image=NEW, updateStrategy={"type": "OnDelete"})
    eventually(drained.is_ready)
    drained.overlord.tasks = {last: ["b"]}
    drained.specify(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}})
    eventually(lambda: drained.reconcile() and drained.drain.get("message") == f"b still runs on pod {SET}-1.")
    assert (drained.partition, drained.uid(0), drained.uid(1)) == (2, first, last)
    drained.overlord.tasks.clear()
    eventually(drained.is_ready)
    assert first == drained.uid(0)
    assert last != drained.uid(1)
    assert (drained.partition, drained.overlord.writes) == (1, [f"disable {SET}-1"])
    assert RECORD not in drained.workload["metadata"].get("annotations", {})
    drained.specify(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})
    eventually(drained.is_ready)
    assert first != drained.uid(0)
    assert (drained.partition, drained.overlord.writes) == (0, [f"disable {SET}-1", f"disable {SET}-0"])
