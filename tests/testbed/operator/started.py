# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An operator in its own process: the program ansible-operator if it is on PATH, otherwise the stand-in."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Self
from urllib.parse import urlsplit

from ..api import Api, ApiError
from ..processes import Process, Processes
from .descendants import kill_with_descendants
from .own_network import OwnNetwork, way_in
from .resident import DIRECTORY, end_resident
from .runs import RUNNER, Run, read_runs, write_recorder

PROGRAM = "ansible-operator"
# Two of the real program's ports are fixed. Only the stand-in, which has a variable for it, can run in parallel.
PROXY_PORT = "ANSIBLE_OPERATOR_STAND_IN_PROXY_PORT"
METRICS_PORT = "ANSIBLE_OPERATOR_STAND_IN_METRICS_PORT"
_NAME = "operator"
# The directory of the package testbed.
_TESTS = Path(__file__).parents[2]
_STAND_IN_RUNS = "not on PATH; its stand-in in tests/testbed/operator"

_STAND_IN = """\
#!{python}
import sys

sys.path.insert(0, {tests!r})
from testbed.operator.program import main

sys.exit(main())
"""


class OperatorError(RuntimeError):
    """The operator, or what it needs, is not there, or does not do what it should."""


def real_program() -> str | None:
    """The path of operator-sdk's program, None if only the stand-in can run."""
    return shutil.which(PROGRAM)


@contextmanager
def only_one() -> Iterator[None]:
    """The real program has fixed ports: one at a time on a machine, except for replicas in networks of their own."""
    if real_program() is None:
        yield
        return
    with Path(gettempdir(), "ansible-operator.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def which_program() -> str:
    """Which of the two the tests run."""
    return f"{PROGRAM}: {real_program() or _STAND_IN_RUNS}"


def which_networks() -> str:
    """Return where replicas run that share the machine."""
    if way_in():
        return f"replicas of {PROGRAM}: each in a network namespace of its own"
    return f"replicas of {PROGRAM}: stand-ins on ports of their own, since this machine allows no network namespaces"


@dataclass(frozen=True)
class Setting:
    """What an operator is started with.

    watches: the file, or the list of its entries. namespaces: those that it watches, none for all of them.
    environment: on top of PATH, HOME, KUBECONFIG and WATCH_NAMESPACE; a value None takes a variable away.
    flags: of `ansible-operator run`, on top of those for the watches file and the addresses of probes and metrics.
    kubeconfig: its credentials, which the runs have through its proxy only. programs: directories in which the runs'
    programs (ansible-runner, ansible-playbook) are found before PATH. is_replica: it runs beside others, in a network
    of its own, in which it reaches the server of its kubeconfig; its proxy can only be reached from there. is_recorded:
    its runs are recorded, which costs each of them a few milliseconds.
    """

    watches: Path | Sequence[Mapping[str, Any]]
    kubeconfig: Path
    programs: Sequence[Path] = ()
    namespaces: Sequence[str] = ()
    environment: Mapping[str, str | None] = field(default_factory=dict)
    flags: Sequence[str] = ()
    is_replica: bool = False
    is_recorded: bool = True


class Operator:
    """A started operator; leaving it as a context manager kills it."""

    def __init__(self, directory: Path, setting: Setting, *, probe_port: int, proxy_port: int) -> None:
        self.directory = directory
        # without network namespaces only stand-ins can run in parallel
        self.is_real = real_program() is not None and (not setting.is_replica or way_in() is not None)
        self.setting = setting
        self._probe_port = probe_port
        self._proxy_port = proxy_port
        self._processes = Processes(directory)
        self._record = directory / "runs"
        self._network = self._own_network() if setting.is_replica and way_in() else None

    def __enter__(self) -> Self:
        if self._network:
            self._network.__enter__()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.kill()
        if self._network:
            self._network.__exit__()

    @property
    def proxy_url(self) -> str:
        """The address that the runs know as their API server."""
        return f"http://localhost:{8888 if self.is_real else self._proxy_port}"

    @property
    def probe_url(self) -> str:
        """The address of /healthz and /readyz."""
        return f"http://127.0.0.1:{self._probe_port}"

    @property
    def pid(self) -> int | None:
        """The process, None if it does not run."""
        process = self._process()
        return process.pid if process else None

    @property
    def log(self) -> str:
        """All that it has printed since its first start."""
        return (self.directory / f"{_NAME}.log").read_text(errors="replace")

    @property
    def runs(self) -> list[Run]:
        """The runs since its first start, in the order of their begin."""
        return read_runs(self._record)

    def runs_of(self, name: str, *, namespace: str = "", kind: str = "") -> list[Run]:
        """The runs for a resource; an empty namespace or kind stands for any."""
        return [
            run for run in self.runs if run.name == name and namespace in ("", run.namespace) and kind in ("", run.kind)
        ]

    def wait_for_runs(
        self, name: str, count: int = 1, *, namespace: str = "", kind: str = "", timeout: float = 180
    ) -> list[Run]:
        """The runs of a resource as soon as so many of them have ended; an error if the operator ends before."""

        def ended() -> bool:
            return sum(run.end is not None for run in self.runs_of(name, namespace=namespace, kind=kind)) >= count

        self._processes.wait_for(f"{count} runs for {name}", ended, timeout=timeout)
        return self.runs_of(name, namespace=namespace, kind=kind)

    def wait_for(self, what: str, condition: Callable[[], bool], *, timeout: float = 180) -> None:
        """Return when the condition is true; an error with the log's end when not, or if the operator ends before."""
        self._processes.wait_for(what, condition, timeout=timeout)

    def start(self) -> None:
        """Start it (again), and return when it reports that it is ready."""
        if self.pid is not None:
            raise OperatorError("the operator runs already")
        # one that has ended by itself does not prevent waiting for the next
        self._processes.kill()
        self._prepare()
        variables = [f"{name}={value}" for name, value in self._environment().items()]
        # with no other environment than this, whatever the tests themselves have
        command = ["env", "-i", *variables, PROGRAM, "run", *self._flags()]
        if self._network:
            command = self._network.command(command)
        self._processes.start(_NAME, command, detached=False)
        self._processes.wait_for("a ready operator", self._is_ready, not_yet=(ApiError, OSError))

    def _is_ready(self) -> bool:
        return Api(self.probe_url).request("GET", "/readyz", timeout=2) is not None

    def stop(self, timeout: float = 60) -> None:
        """Ask it to end (SIGTERM), as Kubernetes does with a pod, and wait for that."""
        process = self._process()
        if process is None:
            raise OperatorError("the operator does not run")
        os.kill(process.pid, signal.SIGTERM)
        end = time.monotonic() + timeout
        while process.alive:
            if time.monotonic() > end:
                raise OperatorError(f"the operator still runs {timeout:.0f} s after SIGTERM:\n{self.log[-3000:]}")
            self._processes.running()
            time.sleep(0.02)
        self._processes.kill()
        self._end_resident(signal.SIGTERM)

    def kill(self, *, runs: bool = True) -> None:
        """SIGKILL; to its runs as well, as when a container ends, unless they are to outlive it."""
        process = self._process()
        if process and runs:
            kill_with_descendants(process.pid)
        self._processes.kill()
        if runs:
            self._end_resident(signal.SIGKILL)

    @property
    def resident(self) -> Path | None:
        """The directory of the resident process of its runs, None if there is none."""
        directory = self.setting.environment.get(DIRECTORY)
        return Path(directory) if directory else None

    def _end_resident(self, number: int) -> None:
        if self.resident:
            end_resident(self.resident, number)

    def _process(self) -> Process | None:
        return next(iter(self._processes.running()), None)

    def _own_network(self) -> OwnNetwork:
        kubeconfig = json.loads(self.setting.kubeconfig.read_text())
        servers = {each["cluster"]["server"] for each in kubeconfig["clusters"]}
        return OwnNetwork([urlsplit(server).port or 443 for server in servers], [self._probe_port])

    def _prepare(self) -> None:
        programs = self.directory / "bin"
        for directory in (programs, self.directory / "home", self.directory / "tmp"):
            directory.mkdir(parents=True, exist_ok=True)
        runner = shutil.which(RUNNER, path=self._path(()))
        if runner is None:
            raise OperatorError(f"no {RUNNER} in {self._path(())}; `make setup` installs it")
        if self.setting.is_recorded:
            write_recorder(programs / RUNNER, Path(runner), self._record)
        if not self.is_real:
            program = programs / PROGRAM
            program.write_text(_STAND_IN.format(python=sys.executable, tests=str(_TESTS)))
            program.chmod(0o755)

    def _path(self, first: Sequence[Path]) -> str:
        return os.pathsep.join([*map(str, [*first, *self.setting.programs]), os.environ["PATH"]])

    def _environment(self) -> dict[str, str]:
        variables: dict[str, str | None] = {
            "PATH": self._path([self.directory / "bin"]),
            "HOME": str(self.directory / "home"),
            # what it leaves behind when it is killed
            "TMPDIR": str(self.directory / "tmp"),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "KUBECONFIG": str(self.setting.kubeconfig),
            "WATCH_NAMESPACE": ",".join(self.setting.namespaces),
            # the environment of a pod
            "HOSTNAME": socket.gethostname(),
            PROXY_PORT: str(self._proxy_port),
            # any one, unless a test names it
            METRICS_PORT: "0",
            **self.setting.environment,
        }
        return {name: value for name, value in variables.items() if value is not None}

    def _flags(self) -> list[str]:
        return [
            f"--watches-file={self._watches_file()}",
            f"--health-probe-bind-address=127.0.0.1:{self._probe_port}",
            "--metrics-bind-address=0",
            *self.setting.flags,
        ]

    def _watches_file(self) -> Path:
        if isinstance(self.setting.watches, Path):
            return self.setting.watches
        file = self.directory / "watches.yaml"
        file.write_text(json.dumps(list(self.setting.watches)))
        return file
