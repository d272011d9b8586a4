# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the client does with the answers of a resident process: a run that may have begun is not run again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread

import pytest
from ansible_collections.druidops.druid.build.layout import write_programs
from ansible_collections.druidops.druid.build.runner import client, message

# The real ansible-runner.
ANSIBLE_RUNNER = "#!/bin/sh\necho started\n"


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the program in front of an ansible-runner that only prints."""
    programs, real = write_programs(tmp_path / "bin", sys.executable), tmp_path / "real"
    real.mkdir()
    (real / "ansible-runner").write_text(ANSIBLE_RUNNER)
    (real / "ansible-runner").chmod(0o755)
    (tmp_path / "env").mkdir()
    for name in ("extravars", "settings"):
        (tmp_path / "env" / name).write_text("{}")
    environment = {
        "PATH": f"{programs}:{real}:/usr/bin:/bin",
        "DRUIDOPS_METRICS_URL": "",
        "DRUIDOPS_LOG": str(tmp_path / "log"),
        client.DIRECTORY: str(tmp_path / "warm"),
    }

    def started(**more: int) -> subprocess.CompletedProcess[str]:
        command = [programs / "ansible-runner", "run", tmp_path, "-i", "1"]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        return subprocess.run(command, env=environment, text=True, check=False, timeout=60, **streams)  # type: ignore[call-overload]

    return started


@contextmanager
def resident(directory: Path, answers: Sequence[Sequence[bytes]]) -> Iterator[None]:
    """A process that answers each connection; the first answer is to the request."""
    directory.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(directory / client.SOCKET))
        listener.listen()

        def serve() -> None:
            for answer in answers:
                connection, _address = listener.accept()
                with connection:
                    connection.recv(1 << 16)
                    for each in answer:
                        connection.sendall(each)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield
        thread.join(60)
        assert not thread.is_alive()


READY = message.READY + b" 900\n"


@pytest.mark.parametrize(
    ("answers", "status", "is_ansible_runner"),
    [
        ([[READY, b"ended 0\n"]], 0, False),
        ([[READY, b"ended 4\n"]], 4, False),
        ([[READY, b"ended 254 timeout\n"]], 254, False),
        # it ends before the request, and after it has begun
        ([[b""], [READY, b"ended 3\n"]], 3, False),
        ([[b""], [b""]], 0, True),
        ([[READY, b""]], 1, False),
        ([[READY + b"ended 137 signal 9\n"]], 137, False),
    ],
)
def test_run_is_that_of_the_answers(
    run: Callable[[], subprocess.CompletedProcess[str]],
    tmp_path: Path,
    answers: Sequence[Sequence[bytes]],
    status: int,
    is_ansible_runner: bool,
) -> None:
    with resident(tmp_path / "warm", answers):
        done = run()
    assert (done.returncode, "started" in done.stdout) == (status, is_ansible_runner), done


def test_reason_is_in_the_log(run: Callable[[], subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    with resident(tmp_path / "warm", [[b""], [b""]]):
        run()
    assert "The run is one of ansible-runner: the resident process ended." in (tmp_path / "log").read_text()


def test_run_that_may_have_begun_is_not_run_again_whatever_fails_then(
    run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    # the report of its end cannot be written
    with resident(tmp_path / "warm", [[READY, b""]]):
        done = run(stderr=writer)
    os.close(writer)
    assert done.returncode != 0
    assert done.stdout == ""


LISTEN = """
import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
accepted = listener.accept()
print("accepted", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("has_ended", [False, True])
def test_signal_is_only_sent_to_the_process_at_the_other_end(tmp_path: Path, has_ended: bool) -> None:
    (tmp_path / "warm").mkdir(mode=0o700)
    command = [sys.executable, "-c", LISTEN, str(tmp_path / "warm" / client.SOCKET)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as listening:
        while (connection := client.connect(str(tmp_path / "warm"))) is None:
            assert listening.poll() is None
        assert listening.stdout
        listening.stdout.readline()
        if has_ended:
            listening.kill()
            # it still has its number: nothing has waited for it
            os.waitid(os.P_PID, listening.pid, os.WEXITED | os.WNOWAIT)
        with closing(connection):
            assert client.process(connection) == listening.pid
            assert client.send_signal(connection, signal.SIGTERM) != has_ended
            assert listening.wait(60) == (-signal.SIGKILL if has_ended else -signal.SIGTERM)
            assert not client.send_signal(connection, signal.SIGTERM)
