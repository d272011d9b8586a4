# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
A MiddleManager or an Indexer that should get tasks, or should have none.

``POST /druid/indexer/v1/worker/{host:port}/disable`` and ``/enable`` of the Overlord, which forwards them to the
worker. One that restarts is enabled again. ``POST .../supervisor/{id}/taskGroups/handoff`` since Druid 31.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound
from ansible_collections.druidops.druid.plugins.module_utils._resources.answers import answer, answers
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Document
from ansible_collections.druidops.druid.plugins.module_utils._resources.handoff import (
    HANDOFF_SECONDS,
    IDLE_SECONDS,
    handoff_questions,
    is_too_old,
    reading,
    refusal,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    WORKERS,
    DruidState,
    Worker,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.services import one_of
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import CLOCK, WaitTimeout, wait_until
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, UncertainState

ENABLED, DISABLED = "enabled", "disabled"
# The Overlord shows what a worker has announced a moment later.
_SETTLE_SECONDS = 30.0


def worker_named(client: DruidClient, server: str | None) -> Worker:
    """Return the worker that is meant. InvalidInput if the Overlord knows none, or more than one."""
    known = {each.name: each for each in answer(client, WORKERS)}
    if not known:
        # an empty list may be from any server
        _version = client.version_text
    return known[one_of(server, known, "worker")]


class WorkerState(Document):
    """
    Whether a worker is enabled, as ``{"enabled": true}``, and, to disable it, the task groups that it reads.

    ``requests_handoff``: that the supervisors of these hand them off. ``tasks``: the ids of its running tasks.
    """

    is_merged = False
    goal = "to be idle"
    remedy = (
        "It stays disabled, so that it gets no other tasks. Run the module again to wait on, or set state: enabled to "
        "give up."
    )

    def __init__(self, client: DruidClient, name: str, state: str, *, requests_handoff: bool) -> None:
        super().__init__(client, f"worker {name}")
        self._server, self._is_enabled = name, state == ENABLED
        self._requests_handoff = requests_handoff and not self._is_enabled
        self._next_look = 0.0
        self._idle_since: float | None = None
        self.tasks: tuple[str, ...] = ()

    @property
    def _specified(self) -> Any:
        return self._is_enabled

    def _fetch(self) -> dict[str, Any]:
        worker = self._worker()
        if worker is None:
            raise DruidError(f"The Overlord does not know {self._name} any more.")
        return self._state(worker)

    def _worker(self) -> Worker | None:
        found = next((each for each in answer(self._client, WORKERS) if each.name == self._server), None)
        self.tasks = found.running_tasks if found else ()
        return found

    def _state(self, worker: Worker) -> dict[str, Any]:
        groups = {"task_groups": self._reading(worker)} if self._requests_handoff else {}
        return {"enabled": worker.is_enabled, **groups}

    def _reading(self, worker: Worker) -> dict[str, list[int]]:
        """Return the numbers of the task groups that the worker reads, by supervisor."""
        if not worker.running_tasks:
            return {}
        druid = DruidState()
        while missing := druid.missing_answers(handoff_questions(druid, (worker,))):
            druid = druid.with_answers(answers(self._client, missing))
        if text := refusal(druid, worker):
            self._warn(f"The task groups that it reads are not handed off. {text}")
        elif is_too_old(druid, worker):
            self._warn(
                f"{self._client.product} cannot hand its task groups off, as Druid 31 and newer can: tasks that read a "
                "stream end after the taskDuration of their supervisors."
            )
        found: dict[str, set[int]] = {}
        for group in reading(druid, worker):
            found.setdefault(group.supervisor, set()).add(group.number)
        return {supervisor: sorted(found[supervisor]) for supervisor in sorted(found)}

    def _merged(self, before: Any) -> dict[str, Any]:
        return {"enabled": self._is_enabled, **({"task_groups": {}} if self._requests_handoff else {})}

    def compare(self, after: Any, now: Any) -> None:
        """Task groups are handed off in the next run of their supervisors."""

    def _send(self, before: Any, after: Any) -> None:
        if before["enabled"] != self._is_enabled:
            verb = "enable" if self._is_enabled else "disable"
            self._client.post(path("druid", "indexer", "v1", "worker", self._server, verb), idempotent=True)
            self._wait_until_shown()
        if self._requests_handoff and (worker := self._worker()) is not None:
            # a task may have been assigned before
            self._hand_off(self._reading(worker))

    def _wait_until_shown(self) -> None:
        try:
            wait_until(
                self._worker,
                lambda worker: worker is not None and worker.is_enabled == self._is_enabled,
                timeout=_SETTLE_SECONDS,
                waiting_for="the Overlord",
            )
        except WaitTimeout:
            state = ENABLED if self._is_enabled else DISABLED
            raise UncertainState(
                f"Druid has accepted that {self._name} is {state}, but the Overlord does not show it after "
                f"{_SETTLE_SECONDS:g} s. Check the log of the worker, and run the module again."
            ) from None

    def _hand_off(self, groups: dict[str, list[int]]) -> None:
        self._next_look = CLOCK.monotonic() + (HANDOFF_SECONDS if groups else IDLE_SECONDS)
        for supervisor, numbers in groups.items():
            resource = path("druid", "indexer", "v1", "supervisor", supervisor, "taskGroups", "handoff")
            # a supervisor that has ended meanwhile has asked its tasks to publish
            with suppress(NotFound):
                self._client.post(resource, {"taskGroupIds": numbers}, idempotent=True)

    def awaited(self) -> str:
        """Return what the disabled worker waits for, an empty text if it is idle. DruidError if it never will be.

        Two readings without a task are needed: the first one may not show a new task yet. Task groups are handed off
        again if a first request had no effect.
        """
        worker, now = self._worker(), CLOCK.monotonic()
        if worker is not None and worker.is_enabled:
            raise DruidError(
                f"W{self._name[1:]} was enabled during the wait: another client has enabled it, or its process has "
                "restarted. Run the module again to disable it."
            )
        if worker is None or worker.running_tasks:
            self._idle_since = None
        if worker is None:
            return "it is not known to the Overlord at the moment"
        if worker.running_tasks:
            if self._requests_handoff and now >= self._next_look:
                self._hand_off(self._reading(worker))
            return f"it still runs {', '.join(worker.running_tasks)}"
        self._idle_since = now if self._idle_since is None else self._idle_since
        return "" if now - self._idle_since >= IDLE_SECONDS else "a second reading has to show that it has no tasks"
