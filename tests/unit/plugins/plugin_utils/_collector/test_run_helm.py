# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Helm ends with the run that it belongs to, whatever ends that, and a time limit applies to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._collector import run_helm

# In the place of Helm: it writes its process, and goes on.
SLEEPING = "#!/bin/sh\necho $$ > {file}.part\nmv {file}.part {file}\nexec sleep 600\n"
# It starts the program and waits for it, as a module does.
MODULE = "import subprocess, sys; subprocess.run(sys.argv[1:])"


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "helm"
    path.write_text(SLEEPING.format(file=tmp_path / "process"))
    path.chmod(0o755)
    yield path
    if (tmp_path / "process").exists() and is_running(tmp_path):
        os.kill(int((tmp_path / "process").read_text()), signal.SIGKILL)


def command(directory: Path, helm: Path, limit: float | None = None) -> str:
    path = str(directory / "command")
    run_helm.write(path, str(helm), limit and time.monotonic() + limit)
    return path


def is_running(directory: Path) -> bool:
    """Whether the program runs; a zombie does not."""
    try:
        status = Path("/proc", (directory / "process").read_text().strip(), "stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def wait_for(condition: object, expected: bool = True) -> None:
    assert callable(condition)
    while condition() != expected:
        time.sleep(0.05)


@pytest.mark.parametrize("is_run", [True, False], ids=["the run", "the process that waits"])
def test_helm_ends_with_it(program: Path, tmp_path: Path, is_run: bool) -> None:
    """The process that waits for Helm is a child of the run, which another process may have ended first."""
    other = subprocess.Popen(["sleep", "600"])
    written = command(tmp_path, program)
    # the processes that it watches are those that have written it
    Path(written).write_text(Path(written).read_text().replace(f" {os.getpid()} ", f" {other.pid} ", 1))
    waiting = subprocess.Popen([sys.executable, "-c", MODULE, written])
    wait_for((tmp_path / "process").exists)
    assert is_running(tmp_path)
    ended, left = (other, waiting) if is_run else (waiting, other)
    ended.kill()
    ended.wait()
    wait_for(lambda: is_running(tmp_path), False)
    left.kill()
    left.wait()


def test_time_limit(program: Path, tmp_path: Path) -> None:
    result = subprocess.run([command(tmp_path, program, 0.5)], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr.startswith("Error: Helm was stopped")) == (run_helm.STOPPED, True)
    wait_for(lambda: is_running(tmp_path), False)


@pytest.mark.parametrize("limit", [None, 60.0])
def test_result(limit: float | None, tmp_path: Path) -> None:
    written = command(tmp_path, Path("/bin/sh"), limit)
    for script, expected in (("exit 3", 3), ("exit 0", 0), ("kill -9 $$", -signal.SIGKILL)):
        result = subprocess.run([written, "-c", f"echo out; {script}"], capture_output=True, text=True, check=False)
        assert (result.returncode, result.stdout) == (expected, "out\n")
