# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A playbook of this collection, in the process of a run, as ansible-runner would run it in a process of its own.

ansible-runner determines the command, the environment and the directory, and removes earlier artifacts; the artifacts
are the same, but `job_events` only has the events that ansible-operator acts on.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ansible import constants
from ansible.cli.playbook import PlaybookCLI
from ansible.utils import vars as ansible_variables
from ansible_runner.config.runner import RunnerConfig
from ansible_runner.utils import cleanup_artifact_dir
from kubernetes.config import kube_config

from . import events, own_playbooks, same_process

_ROTATE, _PLAYBOOK, _IDENT = "--rotate-artifacts", "-p", "-i"


class Options(NamedTuple):
    """What ansible-operator requests for a playbook."""

    directory: str
    artifacts: int
    playbook: str
    ident: str
    verbosity: int


def options(arguments: Sequence[str]) -> Options | None:
    """The options; None if there are others, or if it is another playbook than those of this collection."""
    _run, directory, *rest = arguments
    verbosity = len(rest.pop()) - 1 if rest and rest[-1].startswith("-v") else 0
    names, values = rest[::2], rest[1::2]
    if names != [_ROTATE, _PLAYBOOK, _IDENT] or len(values) != len(names) or not values[0].isdecimal():
        return None
    found = Options(directory, int(values[0]), values[1], values[2], verbosity)
    return found if own_playbooks.is_own(found.playbook) else None


def run(requested: Options) -> int:
    """Run the playbook; the exit status of ansible-playbook."""
    config = RunnerConfig(
        private_data_dir=requested.directory,
        playbook=requested.playbook,
        ident=requested.ident,
        rotate_artifacts=requested.artifacts,
        verbosity=requested.verbosity or None,
    )
    config.prepare()
    artifacts = config.artifact_dir
    os.makedirs(os.path.join(artifacts, "job_events"), exist_ok=True)
    _write(artifacts, "command", events.to_json({"command": config.command, "cwd": config.cwd, "env": config.env}))
    cleanup_artifact_dir(os.path.dirname(artifacts), config.rotate_artifacts)
    os.environ.clear()
    os.environ.update(config.env)
    os.chdir(config.cwd)
    with _output(artifacts), _own_state(artifacts):
        events.post_from(config)
        same_process.run_tasks()
        status = _playbook(config.command)
    _write(artifacts, "status", "failed" if status else "successful")
    _write(artifacts, "rc", str(status))
    return status


def use_own_kubeconfig() -> None:
    """Have the Kubernetes client read the kubeconfig of this run by default: that name is determined by its import."""
    kube_config.KUBE_CONFIG_DEFAULT_LOCATION = os.environ.get("KUBECONFIG", kube_config.KUBE_CONFIG_DEFAULT_LOCATION)


def _playbook(command: Sequence[str]) -> int:
    """Run ansible-playbook, which reports every error itself."""
    try:
        PlaybookCLI.cli_executor([*command])
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 1
    return 0


def _write(artifacts: str, name: str, text: str) -> None:
    with open(os.path.join(artifacts, name), "w", encoding="utf-8") as file:
        file.write(text)


@contextmanager
def _output(artifacts: str) -> Iterator[None]:
    """Write what is printed to the artifact, and at the end to the standard output, as ansible-operator reads it."""
    _write(artifacts, "stderr", "")
    standard = os.dup(1)
    file = os.open(os.path.join(artifacts, "stdout"), os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    for stream in (1, 2):
        os.dup2(file, stream)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="replace", closefd=False, buffering=1)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="replace", closefd=False, buffering=1)
    try:
        yield
    finally:
        for each in (sys.stdout, sys.stderr):
            each.flush()
        os.lseek(file, 0, os.SEEK_SET)
        with os.fdopen(file, "rb") as printed, os.fdopen(standard, "wb") as output:
            shutil.copyfileobj(printed, output)


@contextmanager
def _own_state(artifacts: str) -> Iterator[None]:
    """What has been determined when it was imported, and each process has its own."""
    # the loader of collections has been set up before
    warnings.filterwarnings("ignore", "AnsibleCollectionFinder has already been configured")
    ansible_variables.random_int = f"{random.randint(0, ansible_variables._MAXSIZE):08x}"
    use_own_kubeconfig()
    temporary = tempfile.mkdtemp(prefix="tmp-", dir=artifacts)
    constants.DEFAULT_LOCAL_TMP = temporary  # type: ignore[attr-defined]
    if "ANSIBLE_INVENTORY" not in os.environ:
        # ansible-operator has written the inventory
        constants.INVENTORY_ENABLED = ["ini"]  # type: ignore[attr-defined]
    try:
        yield
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
