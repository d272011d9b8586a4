# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the action ingestion does, without starting ansible-playbook: on a real control plane and a real Druid."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome, run
from ansible_collections.druidops.druid.tests.system.support.eventually import pausing
from ansible_collections.druidops.druid.tests.system.support.in_process import connection
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
)
from testbed.druid.druid import Druid
from testbed.druid.kafka import Kafka
from testbed.recording_proxy import RecordingProxy, recording_proxy

KIND = "DruidIngestion"


def done(outcome: Outcome[Any]) -> tuple[str, ...]:
    """Return the titles of the steps of all reconciles."""
    return tuple(INGESTION.lines(outcome.plan))


@dataclass(frozen=True)
class Ingesting:
    """A namespace, a Druid behind a proxy that counts requests and injects failures, and a name that is new in both."""

    live: NamespaceClient
    druid: Druid
    proxy: RecordingProxy
    name: str

    def resource(self, kind: str, spec: Any, **more: Any) -> dict[str, Any]:
        """Return a resource for this Druid; `spec` is that of the supervisor or task, `more` are other fields."""
        beside = {"retries", "compaction", "rules"}
        ingestion = {"type": kind, "nativeSpec": spec, **{name: more.pop(name) for name in beside & more.keys()}}
        content = {"endpoint": {"url": self.proxy.url}, "ingestion": ingestion, **more}
        return {"kind": KIND, "metadata": {"name": self.name}, "spec": content}

    @property
    def kafka(self) -> Kafka:
        """The Kafka beside the Druid."""
        assert self.druid.kafka is not None
        return self.druid.kafka

    def one_pass(self, check_mode: bool = False, **request: Any) -> Outcome[Any]:
        """Reconcile once, as a task without `wait` does."""
        self.proxy.forget()
        settings = request.pop("settings", Options(check_mode))
        requested = Request(request.pop("name", self.name), self.live.namespace, settings, **request)
        outcome = run(INGESTION, connection(self.live), requested, lambda _text: None, Clock())
        self._check_writes(outcome, check_mode)
        return outcome

    def _check_writes(self, outcome: Outcome[Any], check_mode: bool) -> None:
        """What the outcome names is what was sent; in check mode, nothing is."""
        sent = [each for each in self.proxy.writes if each.status is not None and each.status < 400]
        steps = [step for step in outcome.plan.steps if step.in_druid]
        assert not (sent and check_mode), sent
        assert steps or outcome.problems or not sent, (done(outcome), sent)
        # no request terminates a supervisor that does not exist, or one in a Druid behind another proxy
        due = [step for step in steps if step.operation.counted != "removed"]
        # a write without a response may have taken effect
        unanswered = [each for each in self.proxy.writes if each.status is None]
        assert sent or unanswered or check_mode or not due, done(outcome)

    def until_reached(self, **request: Any) -> Outcome[Any]:
        """Reconcile until Druid is in the desired state."""
        settings = Options()
        requested = Request(
            self.name, self.live.namespace, settings, wait=True, wait_timeout=120, wait_sleep=0, **request
        )
        outcome = run(INGESTION, connection(self.live), requested, lambda _text: None, pausing())
        assert not outcome.timed_out, outcome.report
        assert outcome.report is not None
        assert not outcome.report.plan.problems, outcome.report.plan.problems
        return outcome

    def settled(self) -> Outcome[Any]:
        """Reconcile until one finds nothing to do and nothing to write in Druid."""
        outcome = self.until_reached()
        while outcome.changed:
            outcome = self.one_pass()
        return outcome

    def is_reading(self) -> bool:
        """Whether a task reads: one that is starting is not asked to publish when its supervisor is suspended."""
        return any(task.get("startTime") for task in self._tasks("activeTasks"))

    def is_idle(self) -> bool:
        """Whether no task reads or publishes."""
        return not (self._tasks("activeTasks") or self._tasks("publishingTasks"))

    def _tasks(self, which: str) -> list[dict[str, Any]]:
        status = self.druid.request("GET", f"/druid/indexer/v1/supervisor/{self.name}/status")
        return status["payload"].get(which) or []

    def change(self, **spec: Any) -> Outcome[Any]:
        """Merge this into the spec of the resource, and keep what it describes then."""
        self.live.merge(KIND, self.name, {"spec": spec})
        return self.settled()

    def times_submitted(self, kind: str) -> int:
        """Return how often the supervisor was submitted, or how many tasks of the batch there have been."""
        if kind == "kafka":
            return len(self.druid.request("GET", f"/druid/indexer/v1/supervisor/{self.name}/history"))
        # a parallel task has subtasks of another type
        tasks = self.druid.request("GET", f"/druid/indexer/v1/tasks?datasource={self.name}")
        return len([task for task in tasks if task["type"] == "index_parallel"])

    @property
    def writes(self) -> list[str]:
        """The write requests of the last reconcile to Druid."""
        return [f"{each.method} {each.path}" for each in self.proxy.writes]

    @property
    def stored(self) -> Manifest:
        """The resource as it is now."""
        return self.live.get(KIND, self.name)

    def condition(self, kind: str) -> tuple[str, str]:
        """Return status and reason of a condition of the resource."""
        found = condition(self.stored, kind)
        return found["status"], found["reason"]


@contextmanager
def ingesting(live: NamespaceClient, druid: Druid) -> Iterator[Ingesting]:
    """Yield it; no supervisor that has the name in its id outlives the block, nor does a task of such a datasource."""
    name = f"t{secrets.token_hex(4)}"
    with recording_proxy(druid.upstream) as proxy:
        try:
            yield Ingesting(live, druid, proxy, name)
        finally:
            for supervisor in druid.request("GET", "/druid/indexer/v1/supervisor"):
                if name in supervisor:
                    druid.request("POST", f"/druid/indexer/v1/supervisor/{supervisor}/terminate")
            druid.remove_datasource(name)
