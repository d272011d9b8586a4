# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Background processes: recorded, killed, never confused with others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.testbed import processes as module
from ansible_collections.druidops.druid.tests.testbed.processes import ProcessError, Processes, start_time


def eventually(condition: Callable[[], bool]) -> None:
    """Return when the condition is true."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "gave up waiting"
        time.sleep(0.01)


def test_started_process_is_recorded_for_others_and_killed(tmp_path: Path) -> None:
    starter = Processes(tmp_path)
    starter.start("sleeper", ["sleep", "600"], detached=False)
    (process,) = Processes(tmp_path).running()
    assert process.name == "sleeper"
    assert os.getsid(process.pid) == process.pid
    starter.kill()
    assert not process.alive
    assert Processes(tmp_path).running() == []


def test_interrupted_start_is_recorded_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = subprocess.Popen

    def interrupted(*arguments: Any, **options: Any) -> Any:
        child = start(*arguments, **options)
        signal.raise_signal(signal.SIGINT)
        return child

    monkeypatch.setattr(module.subprocess, "Popen", interrupted)
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    starter = Processes(tmp_path)
    try:
        with pytest.raises(KeyboardInterrupt):
            starter.start("sleeper", ["sleep", "600"], detached=False)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, former)
    (process,) = Processes(tmp_path).running()
    starter.kill()
    assert not process.alive


def test_detached_process_is_killed_by_any_other(tmp_path: Path) -> None:
    script = (
        "import pathlib, sys; from testbed.processes import Processes\n"
        "Processes(pathlib.Path(sys.argv[1])).start('sleeper', ['sleep', '600'], detached=True)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(module.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", script, tmp_path], check=True, env=environment)
    (process,) = Processes(tmp_path).running()
    Processes(tmp_path).kill()
    assert not process.alive


def test_ended_process_is_reported_with_its_log(tmp_path: Path) -> None:
    processes = Processes(tmp_path)
    processes.start("liar", ["sh", "-c", "echo cannot bind"], detached=False)
    eventually(lambda: not processes.running())
    with pytest.raises(ProcessError, match="liar has ended; the end of its log:\ncannot bind"):
        processes.ensure_running()


def test_running_process_is_no_error(tmp_path: Path) -> None:
    processes = Processes(tmp_path)
    processes.start("sleeper", ["sleep", "600"], detached=False)
    try:
        processes.ensure_running()
    finally:
        processes.kill()


def test_process_with_a_reused_pid_is_not_killed(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "600"]) as bystander:
        (tmp_path / "pids").write_text(f"etcd {bystander.pid} 1\n")
        assert Processes(tmp_path).running() == []
        Processes(tmp_path).kill()
        assert bystander.poll() is None
        bystander.kill()


def test_start_time_of_a_name_with_brackets(tmp_path: Path) -> None:
    program = tmp_path / "a) b (c"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "600"]) as process:
        eventually(lambda: Path(f"/proc/{process.pid}/comm").read_text() == "a) b (c\n")
        assert (start_time(process.pid) or 0) > 0
        process.kill()


def test_dead_process_has_no_start_time() -> None:
    with subprocess.Popen(["true"]) as process:
        # not waited for yet: a zombie
        eventually(lambda: start_time(process.pid) is None)
    assert start_time(process.pid) is None


def test_process_bound_to_its_parent_needs_the_main_thread(tmp_path: Path) -> None:
    errors: list[str] = []

    def start() -> None:
        try:
            Processes(tmp_path).start("sleeper", ["sleep", "600"], detached=False)
        except ProcessError as error:
            errors.append(str(error))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert errors == ["processes that end with this one have to be started by its main thread"]
    assert Processes(tmp_path).recorded() == []
