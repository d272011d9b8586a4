# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Go operator in its own process: the program on PATH that has the name of the binary in its image."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Self

from .api import Api, ApiError
from .processes import Processes

# Also the name of its field manager.
PROGRAM = "manager"
_NAME = "go-operator"


class GoOperatorError(RuntimeError):
    """The program is not on PATH."""


class GoOperatorProgram:
    """A Go operator for one namespace, which is not started yet; leaving it as a context manager kills it."""

    def __init__(self, directory: Path, kubeconfig: Path, namespace: str, *, probe_port: int) -> None:
        self._directory = directory
        self._kubeconfig = kubeconfig
        self._namespace = namespace
        self._probe_port = probe_port
        self._processes = Processes(directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.kill()

    @property
    def log(self) -> str:
        """All that it has printed since its first start."""
        return (self._directory / f"{_NAME}.log").read_text(errors="replace")

    def start(self) -> None:
        """Start it (again), and return when it reports that it is ready; it may not have read anything yet."""
        program = shutil.which(PROGRAM)
        if program is None:
            raise GoOperatorError(f"{PROGRAM}, the program of the Go operator, is not on PATH")
        # with no other environment than this, whatever the tests themselves have
        variables = [f"PATH={os.environ['PATH']}", f"HOME={self._directory}", f"WATCH_NAMESPACE={self._namespace}"]
        self._processes.start(_NAME, ["env", "-i", *variables, program, *self._flags()], detached=False)
        self._processes.wait_for("a ready Go operator", self._is_ready, not_yet=(ApiError, OSError))

    def kill(self) -> None:
        """SIGKILL."""
        self._processes.kill()

    def ensure_running(self) -> None:
        """Raise an error with the end of its log if it has ended."""
        self._processes.ensure_running()

    def _is_ready(self) -> bool:
        return Api(f"http://127.0.0.1:{self._probe_port}").request("GET", "/readyz", timeout=2) is not None

    def _flags(self) -> list[str]:
        return [
            f"--kubeconfig={self._kubeconfig}",
            f"--health-probe-bind-address=127.0.0.1:{self._probe_port}",
            "--metrics-bind-address=0",
        ]
