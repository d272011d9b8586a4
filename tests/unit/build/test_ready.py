# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The readiness probe: what makes the pod not ready, and what does not."""

from __future__ import annotations

import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.build.layout import write_programs
from ansible_collections.druidops.druid.build.ready import START_SECONDS, no_response, no_room, no_start


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


def probe(directory: Path, port: int, **environment: str) -> tuple[int, str]:
    """Run it as the kubelet does; return the exit status, and the message for the event."""
    command = [write_programs(directory / "bin", sys.executable) / "ready", str(port)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stderr


def test_ready_while_runs_start(tmp_path: Path, port: int) -> None:
    pending = tmp_path / "pending"
    assert probe(tmp_path, port, DRUIDOPS_PENDING_RUN=str(pending)) == (0, "")
    pending.touch()
    assert probe(tmp_path, port, DRUIDOPS_PENDING_RUN=str(pending)) == (0, "")
    assert probe(tmp_path, port) == (0, "")


def test_not_ready_if_no_run_has_started_for_a_while(tmp_path: Path, port: int) -> None:
    pending = tmp_path / "pending"
    pending.touch()
    os.utime(pending, (1, 1))
    status, message = probe(tmp_path, port, DRUIDOPS_PENDING_RUN=str(pending))
    assert (status, message.startswith("No run has started for ")) == (1, True)


def test_a_run_may_take_a_while_to_start(tmp_path: Path) -> None:
    file = tmp_path / "pending"
    file.touch()
    began = file.stat().st_mtime
    assert no_start(str(file), began + START_SECONDS - 1) == ""
    assert no_start(str(file), began + START_SECONDS + 1) != ""


def test_not_ready_if_nothing_can_be_written(tmp_path: Path) -> None:
    assert no_room(str(tmp_path)) == ""
    assert not [*tmp_path.iterdir()]
    assert "cannot be written" in no_room(str(tmp_path / "none"))


def test_not_ready_without_ansible_operator(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert no_response(port) == ""
    monkeypatch.setattr(_Probes, "status", 500)
    assert "500" in no_response(port)
    assert "does not respond at port 1" in no_response(1)
