# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whose reads are enough to repeat a reconcile, and what repeats them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.readings import RecordingTransport
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import unchanged
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.record import Reads

LINE = json.dumps({"ready": "True"})
NOTHING_TO_DO = {"changed": False, "requeue_after": None}
ARGUMENTS = {"name": "c", "namespace": "d", "metrics_url": None, "metrics_namespaces": [], "log": None}


def meter(**requests: int) -> Meter:
    """Return the meter of a reconcile with a recording, and these requests."""
    recording = RecordingTransport(None, "http://c", {"/a": "a/1"}, {"Accept": "x"})  # type: ignore[arg-type]
    created = Meter(recording=recording)
    created.requests.update(requests or {"cache_requests": 3})
    return created


@pytest.mark.parametrize(
    ("returned", "requests", "is_repeatable"),
    [
        ({}, {}, True),
        ({"changed": True}, {}, False),
        ({"requeue_after": 5}, {}, False),
        ({"requeue_after": 0}, {}, False),
        ({"msg": "blocked"}, {}, False),
        ({}, {"cache_requests": 3, "kubernetes_writes": 0}, True),
        ({}, {"cache_requests": 3, "kubernetes_reads": 1}, False),
        ({}, {"cache_requests": 3, "druid_reads": 1}, False),
        ({}, {"cache_requests": 3, "cache_errors": 1}, False),
        ({}, {"kubernetes_reads": 3}, False),
    ],
)
def test_reconcile_is_repeatable(returned: dict[str, Any], requests: dict[str, int], is_repeatable: bool) -> None:
    reads = unchanged.reads({**NOTHING_TO_DO, **returned}, LINE, meter(**requests))
    assert (reads is not None) == is_repeatable


def test_not_without_a_complete_recording() -> None:
    created = meter()
    created.recording.is_complete = False  # type: ignore[union-attr]
    assert unchanged.reads(NOTHING_TO_DO, LINE, created) is None
    created.recording = None
    assert unchanged.reads(NOTHING_TO_DO, LINE, created) is None


def test_what_was_read() -> None:
    found = unchanged.reads(NOTHING_TO_DO, LINE, meter())
    assert found is not None
    assert found[1:] == ("http://c", {"/a": "a/1"}, {"Accept": "x"}, {"ready": "True"})


class Cache(ThreadingHTTPServer):
    """A server with one cluster, which accepts metrics, too."""

    daemon_threads = True
    posted: list[dict[str, Any]]

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """Answers each read with the same object or list, and keeps what is posted."""

    server: Cache

    def do_GET(self) -> None:
        """Answer with the cluster, or with a list of it."""
        ready = {"type": "Ready", "status": "True"}
        metadata = {"uid": "a", "resourceVersion": "1", "name": "c", "namespace": "d"}
        cluster = {"metadata": metadata, "status": {"conditions": [ready]}}
        self._answer(cluster if self.path.endswith("/c") else {"items": [cluster]})

    def do_POST(self) -> None:
        """Keep the metric."""
        self.server.posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self._answer({})

    def log_message(self, *_arguments: Any) -> None:
        """Print nothing."""

    def _answer(self, document: dict[str, Any]) -> None:
        data = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def cache() -> Iterator[Cache]:
    with Cache(("127.0.0.1", 0), Handler) as server:
        server.posted = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.parametrize(("version", "is_same"), [("1", True), ("2", False)])
def test_repeated_reads_have_the_metrics_of_all_clusters(
    cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, is_same: bool
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    log = tmp_path / "log"
    arguments = {**ARGUMENTS, "metrics_url": f"{cache.url}/metrics", "log": str(log)}
    last = Reads(0, cache.url, {f"{cache.url}/c": f"a/{version}"}, {}, {"level": "info"})

    assert unchanged.repeat(DRUID, arguments, last) == is_same

    values = {each["name"]: each.get("set") for each in cache.posted}
    assert ("druidops_druid_clusters" in values) == ("druidops_druid_clusters_ready" in values) == is_same
    logged = log.read_text().splitlines() if log.exists() else []
    assert [json.loads(line)["level"] for line in logged] == ["info"] * is_same
