# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks in the process of the run, which is their own: Ansible would fork another one for each of them."""

from __future__ import annotations

from typing import Any

from ansible.executor.process import worker
from ansible.plugins import strategy


def run_tasks() -> None:
    """Have Ansible run the tasks in this process."""
    strategy.WorkerProcess = _Worker  # type: ignore[attr-defined]
    worker.display = _Display()  # type: ignore[assignment]


class _Worker(worker.WorkerProcess):
    """A worker that has ended when it has been started."""

    def start(self) -> None:
        """Run the task; what a process of its own would change in its memory only stays as it was."""
        host, task = self._host, self._task
        kept = host.vars, host.groups
        self._task = task.copy(exclude_parent=True, exclude_tasks=True)
        self._task._parent = task._parent
        self._save_stdin()
        try:
            self._run()
        finally:
            self._new_stdin.close()
            host.vars, host.groups = kept

    def is_alive(self) -> bool:
        """True while it runs."""
        return False


class _Display:
    """What a worker does with Ansible's output: in this process, it needs no queue."""

    def set_queue(self, queue: Any) -> None:
        """Print directly."""

    def debug(self, text: str) -> None:
        """Print nothing about the worker."""
