# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The container's program: what it forwards, what it waits for, and when it releases the Lease."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.build.layout import write_programs

# An operator that exits on SIGTERM, and its run, which ends when the test lets it.
OPERATOR = """
import os, signal, subprocess, sys
run = [sys.executable, "-c", "open('end').read(); open('run', 'w').close()"]
def stop(*_arguments):
    subprocess.Popen(run, start_new_session=True)
    os.write(1, b"stopped\\n")
    sys.exit(3)
signal.signal(signal.SIGTERM, stop)
print("ready", flush=True)
while True:
    signal.pause()
"""
# Exits, and leaves a process behind.
FAILING = """
import subprocess, sys
left = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
open("left", "w").write(str(left.pid))
sys.exit(1)
"""
RECORDER = "import os, sys; open('released', 'w').write(' '.join([str(os.path.exists('run')), sys.argv[-1]]))"


# Leaves a process that only accepts connections after a while, as a resident process that has just been started.
STARTING = """
import os, signal, subprocess, sys
left = "import os, signal, socket, time; time.sleep(1); listener = socket.socket(socket.AF_UNIX);" \\
    "listener.bind(os.environ['DRUIDOPS_WARM_RUNNER'] + '/socket'); listener.listen(); signal.pause()"
os.mkdir(os.environ["DRUIDOPS_WARM_RUNNER"], 0o700)
subprocess.Popen([sys.executable, "-c", left], start_new_session=True)
print("ready", flush=True)
signal.pause()
"""


@pytest.fixture
def start(tmp_path: Path) -> Path:
    """The program, with a recorder instead of the one that releases the Lease."""
    directory = write_programs(tmp_path / "bin", sys.executable)
    (directory / "release-lease").write_text(f"#!{sys.executable}\n{RECORDER}")
    return directory / "start"


def test_releases_the_lease_after_the_last_run(start: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "end")
    command = [start, sys.executable, "-c", OPERATOR, "--leader-elect"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout
        assert started.stdout.readline() == "ready\n"
        started.send_signal(signal.SIGTERM)
        assert started.stdout.readline() == "stopped\n"
        # A release that does not wait for the run would happen meanwhile.
        for _number in range(5):
            subprocess.run([sys.executable, "-c", ""], check=True)
        (tmp_path / "end").write_text("")
        assert started.wait(60) == 3
    assert (tmp_path / "released").read_text() == "True --leader-elect"


def test_stops_a_resident_process_that_is_starting(start: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "DRUIDOPS_WARM_RUNNER": str(tmp_path / "warm")}
    command = [start, sys.executable, "-c", STARTING]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout
        assert started.stdout.readline() == "ready\n"
        started.send_signal(signal.SIGTERM)
        assert started.wait(60) == 128 + signal.SIGTERM
    assert (tmp_path / "released").exists()


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("raise SystemExit(0)", 0),
        ("raise SystemExit(7)", 7),
        ("import os; os.kill(os.getpid(), 9)", 137),
    ],
)
def test_an_operator_that_exits_by_itself_releases_nothing(
    start: Path, tmp_path: Path, script: str, status: int
) -> None:
    done = subprocess.run([start, sys.executable, "-c", script], cwd=tmp_path, check=False)
    assert done.returncode == status
    assert not (tmp_path / "released").exists()


def test_a_run_that_is_left_does_not_delay_the_restart_of_the_container(start: Path, tmp_path: Path) -> None:
    done = subprocess.run([start, sys.executable, "-c", FAILING], cwd=tmp_path, check=False, timeout=60)
    # it still exists
    os.kill(int((tmp_path / "left").read_text()), signal.SIGKILL)
    assert done.returncode == 1
    assert not (tmp_path / "released").exists()


@pytest.mark.parametrize("has_variable", [True, False])
def test_attempts_of_the_container_before_are_forgotten(start: Path, tmp_path: Path, has_variable: bool) -> None:
    """The volume outlives it."""
    pending = tmp_path / "pending"
    pending.write_text("1 a\n")
    environment: Mapping[str, str] = {"DRUIDOPS_PENDING_RUN": str(pending)} if has_variable else {}
    subprocess.run([start, sys.executable, "-c", ""], env=environment, check=True)
    assert pending.exists() == (not has_variable)
