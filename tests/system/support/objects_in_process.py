# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the action druid_object does, without ansible-playbook: on a real control plane and a real Druid."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.kind import ObjectKind
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import is_ready
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome, run
from ansible_collections.druidops.druid.tests.system.support.certificates import PERMITTED
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually, pausing
from ansible_collections.druidops.druid.tests.system.support.in_process import connection
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
)
from testbed.druid.druid import Druid
from testbed.recording_proxy import RecordingProxy, recording_proxy


@dataclass(frozen=True)
class Objects:
    """Resources of a kind in a namespace, and a Druid behind a proxy that counts requests and injects failures.

    `name` is new in Druid, and that of the first resource.
    """

    kind: ObjectKind
    live: NamespaceClient
    druid: Druid
    proxy: RecordingProxy
    name: str

    def create(self, name: str = "", **spec: Any) -> Manifest:
        """Create a resource for this Druid."""
        auth = {"type": "basic-auth", "secretRef": {"name": "login"}} if self.druid.credentials else None
        content = {"endpoint": {"url": self.proxy.url}, **({"auth": auth} if auth else {}), **spec}
        return self.live.create({"kind": self.kind.name, "metadata": {"name": name or self.name}, "spec": content})

    def create_later(self, name: str, **spec: Any) -> Manifest:
        """Create a resource in a later second than the first one, so that it is younger."""
        first = self.live.get(self.kind.name, self.name)["metadata"]["creationTimestamp"]
        eventually(lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()) != first)
        return self.create(name, **spec)

    def change(self, name: str = "", **spec: Any) -> None:
        """Merge this into the spec of a resource."""
        self.live.merge(self.kind.name, name or self.name, {"spec": spec})

    def one_pass(self, name: str = "", *, check_mode: bool = False, **request: Any) -> Outcome[Any]:
        """Reconcile once. What is sent to Druid is exactly what the outcome names; in check mode, nothing is."""
        self.proxy.forget()
        options = Options(check_mode, timeouts=Timeouts(retry_timeout=0))
        requested = Request(name or self.name, self.live.namespace, options, **request)
        outcome = run(self.kind, connection(self.live), requested, lambda _text: None, Clock())
        if not outcome.problems:
            due = [step for step in outcome.plan.steps if step.in_druid and not check_mode]
            assert bool(self.proxy.writes) == bool(due), (self.done(outcome), self.proxy.writes)
        return outcome

    def settled(self, name: str = "") -> Outcome[Any]:
        """Reconcile until it is ready, and then once more, which does nothing."""
        requested = Request(
            name or self.name, self.live.namespace, Options(), wait=True, wait_timeout=120, wait_sleep=0
        )
        outcome = run(self.kind, connection(self.live), requested, lambda _text: None, pausing())
        assert not outcome.timed_out, outcome.report
        assert not outcome.problems, outcome.problems
        assert not self.one_pass(name).changed
        return outcome

    def delete(self, name: str = "", **expected: Any) -> Outcome[Any]:
        """Delete the resource, and run its finalizer once."""
        self.live.delete(self.kind.name, name or self.name)
        return self.one_pass(name, **expected)

    def done(self, outcome: Outcome[Any]) -> list[str]:
        """Return the titles of the steps in Druid."""
        return [step.title for step in outcome.plan.steps if step.in_druid]

    def find(self, name: str = "") -> Manifest | None:
        """Return the resource, None if it is deleted."""
        return self.live.find(self.kind.name, name or self.name)

    def condition(self, kind: str, name: str = "") -> tuple[str, str]:
        """Return status and reason of a condition of a resource."""
        found = condition(self.live.get(self.kind.name, name or self.name), kind)
        return found["status"], found["reason"]

    def is_ready(self) -> bool:
        """Return whether the first resource is ready; it may not have been reconciled yet."""
        status = self.live.get(self.kind.name, self.name)["status"]
        return is_ready(status.get("conditions") or ())

    def message(self, name: str = "") -> str:
        """Return the message of the condition Ready."""
        return str(condition(self.live.get(self.kind.name, name or self.name), "Ready")["message"])

    def texts(self) -> str:
        """Return all that a reader of the resources and events sees besides what their authors have written."""
        resources = [{**each, "spec": None} for each in self.live.list(self.kind.name)]
        return f"{resources} {self.live.list('Event')}"


@contextmanager
def objects(kind: ObjectKind, live: NamespaceClient, druid: Druid) -> Iterator[Objects]:
    """Yield it, with the Secret of the administrator of a Druid with basic security."""
    with recording_proxy(druid.upstream) as proxy:
        if login := druid.credentials:
            data = {"OperatorUserName": login.username, "OperatorPassword": login.password}
            metadata = {"name": "login", "annotations": PERMITTED}
            live.create({"kind": "Secret", "metadata": metadata, "stringData": data})
        yield Objects(kind, live, druid, proxy, f"o{secrets.token_hex(4)}")
