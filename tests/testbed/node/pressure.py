# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node under pressure: its kubelet, started again with a threshold that no machine satisfies, evicts pods."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..processes import Process, Processes

_NAME = "kubelet"
# Soft: it leaves what the node has for pods as it is.
MEMORY = {
    "evictionSoft": {"memory.available": "100Ti"},
    "evictionSoftGracePeriod": {"memory.available": "1s"},
}
PROCESSES = {"evictionHard": {"memory.available": "100Mi", "pid.available": "1G"}}
# They run until their node ends: Python warns about a running process that is forgotten.
_STARTED: list[Processes] = []


@contextmanager
def pressure(directory: Path, settings: dict[str, Any]) -> Iterator[None]:
    """Have the node of the control plane in the directory be under pressure as long as the block runs."""
    file = directory / "node" / "kubelet.json"
    former = file.read_text()
    try:
        _restart(directory, file, json.dumps({**json.loads(former), **settings}))
        yield
    finally:
        _restart(directory, file, former)


def _restart(directory: Path, file: Path, configuration: str) -> None:
    processes = Processes(directory)
    (running,) = (each for each in processes.running() if each.name == _NAME)
    command = Path(f"/proc/{running.pid}/cmdline").read_text().rstrip("\0").split("\0")
    _kill(running)
    processes.kill(_NAME)
    file.write_text(configuration)
    # it ends with its node
    processes.start(_NAME, command, detached=True)
    _STARTED.append(processes)


def _kill(entering: Process) -> None:
    """End the kubelet: the child of the recorded process, which has entered the node, and ends with it."""
    children = Path(f"/proc/{entering.pid}/task/{entering.pid}/children").read_text().split()
    for each in children:
        os.kill(int(each), signal.SIGKILL)
    while entering.alive:
        time.sleep(0.02)
