# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of the image's ansible-runner as ansible-operator starts them, without an operator."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.build.layout import write_programs
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from testbed.operator.events import Events, socket_of
from testbed.operator.resident import DIRECTORY, end_resident, resident_process

_OURS = Path("ansible_collections", "druidops", "druid")
_INVENTORY = "localhost ansible_connection=local ansible_python_interpreter={{ansible_playbook_python}}"
# Those of ansible-operator; ansible-runner also sends others.
_ACTED_ON = ("playbook_on_task_start", "runner_on_ok", "runner_item_on_ok", "runner_on_failed", "playbook_on_stats")
# What differs from run to run.
_OF_ONE_RUN = re.compile("(uuid|pid|created|counter|start|end|duration|_line|runner_ident|mtime|delta)$")
# ansible-runner runs Ansible in a terminal.
_OF_A_TERMINAL = re.compile(r"\x1b\[[0-9;]*m|\r(?=\n)")


@dataclass(frozen=True)
class Ended:
    """A run that has ended: status, output, the events that are acted on, those of all kinds, artifacts by name."""

    status: int
    output: str
    events: tuple[Mapping[str, Any], ...]
    kinds: Sequence[str]
    artifacts: Mapping[str, str]

    @property
    def seen(self) -> Mapping[str, Any]:
        """What ansible-operator sees of it, and what is the same in each run."""
        return {
            "status": self.status,
            "printed": _OF_A_TERMINAL.sub("", self.output),
            "events": [_lasting(event) for event in self.events],
            **{name: _OF_A_TERMINAL.sub("", text) for name, text in self.artifacts.items()},
        }


def _lasting(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _lasting(each) for name, each in value.items() if not _OF_ONE_RUN.search(name)}
    if isinstance(value, list):
        return [_lasting(each) for each in value]
    return _OF_A_TERMINAL.sub("", value) if isinstance(value, str) else value


@dataclass
class Runner:
    """The program in front of ansible-runner, and the copy of the collection whose playbooks it runs.

    ``virtualenv``: the variable with the path of its Python, and of Ansible.
    """

    directory: Path
    environment: dict[str, str] = field(default_factory=dict)
    virtualenv: str = "DRUIDOPS_OPERATOR"

    def __post_init__(self) -> None:
        operator = Path(os.environ[self.virtualenv])
        self.programs = write_programs(self.directory / "programs" / "bin", str(operator / "bin" / "python"))
        self.collection = self.directory / "collections" / _OURS
        shutil.copytree(Path(os.environ["DRUIDOPS_INSTALLED"]) / _OURS, self.collection, symlinks=True)
        self.environment = {
            "PATH": f"{self.programs}:{operator / 'bin'}:/usr/bin:/bin",
            "HOME": str(self.directory),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "ANSIBLE_COLLECTIONS_PATH": str(self.directory / "collections"),
            "ANSIBLE_STDOUT_CALLBACK": "minimal",
            "DRUIDOPS_LOG": str(self.directory / "log"),
            "DRUIDOPS_METRICS_URL": "http://localhost:9/metrics",
            DIRECTORY: str(self.resident_directory),
            **self.environment,
        }

    @property
    def resident_directory(self) -> Path:
        """Where the resident process is reached."""
        return self.directory / "warm"

    @property
    def resident(self) -> int:
        """The resident process."""
        return eventually(lambda: resident_process(self.resident_directory))

    @property
    def reports(self) -> list[str]:
        """Why runs were those of ansible-runner."""
        file = self.directory / "log"
        lines = file.read_text().splitlines() if file.exists() else []
        return [line["message"] for line in map(json.loads, lines) if "ansible-runner" in line.get("message", "")]

    def playbook(self, name: str, tasks: Sequence[Mapping[str, Any]] | str) -> Path:
        """Write a playbook beside those of the collection; `tasks` may be the text of the file."""
        file = self.collection / "of_others" / f"{name}.yml"
        file.parent.mkdir(exist_ok=True)
        play = {"hosts": "localhost", "gather_facts": False, "collections": ["druidops.druid"], "tasks": tasks}
        file.write_text(tasks if isinstance(tasks, str) else json.dumps([play]))
        return file

    def start(
        self,
        playbook: Path,
        *options: str,
        is_warm: bool = True,
        is_received: bool = True,
        namespace: str = "namespace",
        resource: str = "name",
        variables: Mapping[str, Any] | None = None,
        **environment: str,
    ) -> Started:
        """Start a run for a resource; `options` follow those of ansible-operator, which may not hear its events."""
        ident = str(secrets.randbits(62))
        where = self.directory / "group" / "v1" / "Kind" / namespace / resource
        meta = {"ansible_operator_meta": {"name": resource, "namespace": namespace}}
        files: dict[str, Any] = {
            "env/extravars": json.dumps({**meta, **(variables or {})}),
            "env/settings": json.dumps({"runner_http_url": str(socket_of(ident)), "runner_http_path": "/events/"}),
            "env/envvars": json.dumps({"KUBECONFIG": environment.get("KUBECONFIG", "/none")}),
            "inventory/hosts": _INVENTORY,
            "project/playbook.yaml": "[]",
        }
        for name, content in files.items():
            (where / name).parent.mkdir(parents=True, exist_ok=True)
            (where / name).write_text(content)
        command = [self.programs / "ansible-runner", "run", where, "--rotate-artifacts", "6", "-p", playbook]
        switched = {} if is_warm else {DIRECTORY: ""}
        events = Events(ident)
        if not is_received:
            socket_of(ident).unlink()
        process = subprocess.Popen(
            [*map(str, command), "-i", ident, *options],
            env={**self.environment, **switched, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return Started(process, events, where / "artifacts" / ident)

    def run(self, playbook: Path, *options: str, **more: Any) -> Ended:
        """A run to its end."""
        return self.start(playbook, *options, **more).end()

    def close(self) -> None:
        """End the resident process."""
        end_resident(self.resident_directory)


@dataclass
class Started:
    """A run in progress."""

    process: subprocess.Popen[str]
    events: Events
    artifacts: Path

    def end(self) -> Ended:
        """Wait for its end."""
        output, _errors = self.process.communicate(timeout=180)
        self.events.close()
        events = tuple(self.events)
        files = {name: self.artifacts / name for name in ("rc", "status", "stdout")}
        texts = {name: file.read_text() for name, file in files.items() if file.exists()}
        acted_on = tuple(each for each in events if each["event"] in _ACTED_ON)
        return Ended(self.process.returncode, output, acted_on, [each["event"] for each in events], texts)


@contextmanager
def runner(directory: Path, virtualenv: str = "DRUIDOPS_OPERATOR", **environment: str) -> Iterator[Runner]:
    """A runner whose resident process ends with the block."""
    created = Runner(directory, environment, virtualenv)
    try:
        yield created
    finally:
        created.close()
