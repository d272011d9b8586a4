# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The action without ansible-playbook: for tests of the reads and writes of a reconcile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi, Transport
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import connect
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import run as kernel
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome, Progress
from ansible_collections.druidops.druid.tests.system.support.eventually import pausing
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient


def connection(live: NamespaceClient, user: str = "druidops") -> KubernetesApi:
    """Return a connection of the user."""
    return connect({"kubeconfig": str(live.plane.kubeconfig(user))})


def cluster_request(name: str, namespace: str, options: Options | None = None, **more: Any) -> Request[Options]:
    """Return a request for a cluster, with the default options unless others are given."""
    return Request(name, namespace, options or Options(), **more)


def run(api: KubernetesApi, request: Request[Options], progress: Progress, clock: Clock) -> Outcome[Plan]:
    """Run a request for a cluster. ``changed`` is true if a write took effect, and only if one was sent."""
    inner = api.transport
    counting = CountingTransport(inner)
    api.transport = counting
    try:
        outcome = kernel.run(DRUID, api, request, progress, clock)
    finally:
        api.transport = inner
    check_writes(counting, outcome, check_mode=request.options.check_mode)
    return outcome


def check_writes(counting: CountingTransport, outcome: Outcome[Plan], *, check_mode: bool) -> None:
    """Compare the outcome with the requests. Another reconcile may come first, so that a write has no effect."""
    if check_mode:
        assert not counting.effective, counting.effective
    elif not outcome.problems:
        # a failed reconcile may have sent writes, of steps that it does not report
        assert outcome.changed or not counting.effective, counting.effective
        in_druid = any(step.in_druid for step in outcome.plan.steps)
        assert counting.sent or in_druid or not outcome.changed, outcome.plan


@dataclass
class CountingTransport:
    """Sends requests, and remembers the writes and those that took effect, apart from dry runs, status and events."""

    inner: Transport
    sent: list[str] = field(default_factory=list)
    effective: list[str] = field(default_factory=list)

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Send a request."""
        target = urlsplit(url)
        is_report = target.path.endswith("/status") or "/events" in target.path
        is_write = method != "GET" and not is_report and "dryRun=" not in target.query
        self.sent.extend([f"{method} {target.path}"] if is_write else [])
        answer = self.inner.request(method, url, **arguments)
        self.effective.extend([f"{method} {target.path}"] if is_write and answer.status < 400 else [])
        return answer


def one_pass(live: NamespaceClient, name: str, check_mode: bool = False, **request: Any) -> Outcome[Plan]:
    """Reconcile a cluster once, as a task without `wait` does."""
    requested = cluster_request(name, live.namespace, options=Options(check_mode), **request)
    return run(connection(live), requested, lambda _text: None, Clock())


def until_reached(live: NamespaceClient, name: str, **request: Any) -> Outcome[Plan]:
    """Reconcile until the cluster is in the desired state."""
    requested = cluster_request(name, live.namespace, wait=True, wait_timeout=300, wait_sleep=0, **request)
    outcome = run(connection(live), requested, lambda _text: None, pausing())
    assert not outcome.timed_out
    return outcome


def until_ready(live: NamespaceClient, name: str, **request: Any) -> Outcome[Plan]:
    """Reconcile until the cluster is ready, or has no pods, as specified."""
    outcome = until_reached(live, name, **request)
    assert outcome.report is not None
    has_no_pods = outcome.report.status.get("reason") == reasons.NO_PODS
    assert outcome.report.is_ready or has_no_pods, outcome.report.status
    return outcome


def good(outcome: Outcome[Plan] | None) -> Outcome[Plan]:
    """Return the outcome of a run without problems."""
    assert outcome is not None
    problems = () if outcome.report is None else outcome.report.problems
    assert problems == (), problems
    return outcome
