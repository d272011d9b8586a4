# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Start ansible-runner for a resource, and hand on what it tells."""

from __future__ import annotations

import logging
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from . import author_annotations, input_directory
from .events import Events, socket_of
from .input_directory import Input
from .kinds import key_of
from .parameters import parameters
from .runs import RUNNER
from .watches import Watch

_LOG = logging.getLogger("runner")


class LaunchError(RuntimeError):
    """The run could not be started."""


@dataclass(frozen=True)
class Launcher:
    """How the runs of a watch are started; the environment is the operator's."""

    watch: Watch
    command_line: str
    environment: Mapping[str, str]

    def launch(self, ident: str, resource: Mapping[str, Any], kubeconfig: Path) -> tuple[Events, Path]:
        """Start a run; its events, and where it leaves its artifacts. The events end with the process."""
        if shutil.which(RUNNER, path=self.environment.get("PATH")) is None:
            raise LaunchError(f"no {RUNNER} on PATH")
        directory = input_directory.input_directory(self.watch.kind, key_of(resource))
        finalizing = self._is_finalizing(resource)
        given = Input(
            playbook=self.watch.playbook,
            parameters=parameters(self.watch, resource, finalizing=finalizing),
            kubeconfig=kubeconfig,
            socket=socket_of(ident),
            command_line=self.command_line,
        )
        input_directory.write(directory, given, self.environment)
        events = Events(given.socket)
        command = [*self._command(directory, finalizing), "-i", ident, *self._verbosity(resource)]
        command[3:3] = ["--rotate-artifacts", str(self._artifacts(resource))]
        variables = {**self.environment, **input_directory.variables(kubeconfig)}
        Thread(target=_run, args=(command, variables, events, directory, ident), daemon=True).start()
        return events, directory / "artifacts" / ident

    def _command(self, directory: Path, finalizing: bool) -> list[str]:
        finalizer = self.watch.finalizer
        playbook = finalizer.playbook if finalizer and finalizing else None
        return [RUNNER, "run", str(directory), "-p", str(playbook or self.watch.playbook)]

    def _artifacts(self, resource: Mapping[str, Any]) -> int:
        return author_annotations.max_runner_artifacts(resource, self.watch.max_runner_artifacts)

    def _verbosity(self, resource: Mapping[str, Any]) -> list[str]:
        verbosity = author_annotations.verbosity(resource, self.watch.ansible_verbosity)
        return ["-" + "v" * verbosity] if verbosity > 0 else []

    def _is_finalizing(self, resource: Mapping[str, Any]) -> bool:
        metadata = resource["metadata"]
        finalizer = self.watch.finalizer
        return bool(
            finalizer and "deletionTimestamp" in metadata and finalizer.name in (metadata.get("finalizers") or [])
        )


def _run(command: list[str], environment: Mapping[str, str], events: Events, directory: Path, ident: str) -> None:
    """Let it run to its end; nobody looks at its exit status."""
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            _LOG.error("exit status=%d job=%s output=%s", done.returncode, ident, done.stdout)
        else:
            _LOG.info("Ansible-runner exited successfully job=%s", ident)
    finally:
        events.close()
    _link_latest(directory / "artifacts", ident)


def _link_latest(artifacts: Path, ident: str) -> None:
    latest = artifacts / "latest"
    with suppress(FileNotFoundError, FileExistsError):
        latest.unlink(missing_ok=True)
        latest.symlink_to(artifacts / ident)
