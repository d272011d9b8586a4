# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The container's program: what it forwards, what it waits for, and when it releases the Lease."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.build.layout import write_programs

# An operator that has started a run; on SIGTERM it exits, and the run writes its end half a second later.
OPERATOR = """
import os, signal, subprocess, sys, time
run = [sys.executable, "-c", "import time; time.sleep(0.5); open('run', 'w').write(str(time.time()))"]
def stop(*_arguments):
    subprocess.Popen(run, start_new_session=True)
    sys.exit(3)
signal.signal(signal.SIGTERM, stop)
print("ready", flush=True)
while True:
    time.sleep(60)
"""
RECORDER = "import sys, time; open('released', 'w').write(' '.join([str(time.time()), *sys.argv[1:]]))"
FLAGS = ["-c", OPERATOR]


@pytest.fixture
def start(tmp_path: Path) -> Path:
    """The program, with a recorder instead of the one that releases the Lease."""
    directory = write_programs(tmp_path / "bin", sys.executable)
    (directory / "release-lease").write_text(f"#!{sys.executable}\n{RECORDER}")
    return directory / "start"


def test_releases_the_lease_after_the_last_run(start: Path, tmp_path: Path) -> None:
    command = [start, sys.executable, *FLAGS, "--leader-elect"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout
        assert started.stdout.readline() == "ready\n"
        started.send_signal(signal.SIGTERM)
        assert started.wait(60) == 3
    released, *arguments = (tmp_path / "released").read_text().split(" ", 1)
    assert float(released) > float((tmp_path / "run").read_text())
    assert arguments[0].endswith(" --leader-elect")


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("raise SystemExit(0)", 0),
        ("raise SystemExit(7)", 7),
        ("import os; os.kill(os.getpid(), 9)", 137),
        # a run that is left does not delay the restart of the container
        ("import subprocess; subprocess.Popen(['sleep', '30']); raise SystemExit(1)", 1),
    ],
)
def test_an_operator_that_exits_by_itself_releases_nothing(
    start: Path, tmp_path: Path, script: str, status: int
) -> None:
    done = subprocess.run([start, sys.executable, "-c", script], cwd=tmp_path, check=False, timeout=20)
    assert done.returncode == status
    assert not (tmp_path / "released").exists()


@pytest.mark.parametrize("has_variable", [True, False])
def test_attempts_of_the_container_before_are_forgotten(start: Path, tmp_path: Path, has_variable: bool) -> None:
    """The volume outlives it."""
    pending = tmp_path / "pending"
    pending.write_text("1 a\n")
    environment: Mapping[str, str] = {"DRUIDOPS_PENDING_RUN": str(pending)} if has_variable else {}
    subprocess.run([start, sys.executable, "-c", ""], env=environment, check=True)
    assert pending.exists() == (not has_variable)
