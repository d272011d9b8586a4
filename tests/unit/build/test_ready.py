# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The readiness probe: what makes the pod not ready, and what does not."""

from __future__ import annotations

import http.server
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.build.layout import write_programs
from ansible_collections.druidops.druid.build.ready import RETRY_SECONDS, START_SECONDS, no_response, no_room, no_start
from ansible_collections.druidops.druid.build.runner.restrictions import MAX_BYTES, record_attempt


class _Probes(http.server.BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/readyz" else 404)
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        """Print nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    """Return the port of ansible-operator's own probes."""
    with http.server.HTTPServer(("127.0.0.1", 0), _Probes) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


BEGAN = 1_800_000_000


def attempt(file: Path, when: float, *resources: str) -> None:
    """Record attempts of runs as the program in front of ansible-runner does, by default of two resources."""
    for name in resources or ("a", "b"):
        record_attempt(str(file), f"/tmp/ansible-operator/runner/druid.apache.org/v1alpha1/Druid/d/{name}", when)


def probe(directory: Path, port: int, **environment: str) -> tuple[int, str]:
    """Run it as the kubelet does; return the exit status, and the message for the event."""
    command = [write_programs(directory / "bin", sys.executable) / "ready", str(port)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stderr


def test_ready_while_runs_start(tmp_path: Path, port: int) -> None:
    pending = tmp_path / "pending"
    assert probe(tmp_path, port, DRUIDOPS_PENDING_RUN=str(pending)) == (0, "")
    attempt(pending, time.time())
    assert probe(tmp_path, port, DRUIDOPS_PENDING_RUN=str(pending)) == (0, "")
    assert probe(tmp_path, port) == (0, "")


def test_not_ready_if_no_run_has_started_for_a_while(tmp_path: Path, port: int) -> None:
    pending = tmp_path / "pending"
    attempt(pending, time.time() - 2 * START_SECONDS)
    status, message = probe(tmp_path, port, DRUIDOPS_PENDING_RUN=str(pending))
    assert (status, message.startswith("No run has started for ")) == (1, True)


def test_a_run_may_take_a_while_to_start(tmp_path: Path) -> None:
    file = tmp_path / "pending"
    attempt(file, BEGAN)
    assert no_start(str(file), BEGAN + START_SECONDS - 1) == ""
    assert no_start(str(file), BEGAN + START_SECONDS + 1) != ""


def test_a_single_resource_is_never_the_cause(tmp_path: Path) -> None:
    """However often it is attempted; not even with another one whose run may still start."""
    file = tmp_path / "pending"
    for seconds in (0, 300, 900):
        attempt(file, BEGAN + seconds, "a")
    assert no_start(str(file), BEGAN + 1000) == ""
    attempt(file, BEGAN + 1000, "b")
    assert no_start(str(file), BEGAN + 1000 + START_SECONDS - 1) == ""
    assert no_start(str(file), BEGAN + 1000 + START_SECONDS + 1).startswith("No run has started for 1061 s")


def test_ready_again_without_further_attempts(tmp_path: Path) -> None:
    """The resources have been deleted."""
    file = tmp_path / "pending"
    attempt(file, BEGAN)
    attempt(file, BEGAN + 1000, "a")
    assert no_start(str(file), BEGAN + 1000 + RETRY_SECONDS - 1) != ""
    assert no_start(str(file), BEGAN + 1000 + RETRY_SECONDS + 1) == ""


def test_attempts_stay_recent_in_a_full_file(tmp_path: Path) -> None:
    file = tmp_path / "pending"
    attempt(file, BEGAN)
    with file.open("a") as more:
        more.write("x" * MAX_BYTES)
    size = file.stat().st_size
    attempt(file, BEGAN + RETRY_SECONDS)
    assert file.stat().st_size == size
    assert no_start(str(file), BEGAN + RETRY_SECONDS + 1) != ""


def test_not_ready_if_nothing_can_be_written(tmp_path: Path) -> None:
    assert no_room(str(tmp_path)) == ""
    assert not [*tmp_path.iterdir()]
    assert "cannot be written" in no_room(str(tmp_path / "none"))


def test_not_ready_without_ansible_operator(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert no_response(port) == ""
    monkeypatch.setattr(_Probes, "status", 500)
    assert "500" in no_response(port)
    assert "does not respond at port 1" in no_response(1)
