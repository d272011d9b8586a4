# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The action without ansible-playbook: for tests of the reads and writes of a reconcile."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi, Transport
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import connect
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import run as kernel
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import Outcome, Progress
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient


def connection(live: NamespaceClient, user: str = "druidops") -> KubernetesApi:
    """Return a connection of the user."""
    return connect({"kubeconfig": str(live.plane.kubeconfig(user))})


def cluster_request(name: str, namespace: str, options: Options | None = None, **more: Any) -> Request[Options]:
    """Return a request for a cluster, with the default options unless others are given."""
    return Request(name, namespace, options or Options(), **more)


def run(api: KubernetesApi, request: Request[Options], progress: Progress, clock: Clock) -> Outcome[Plan]:
    """Run a request for a cluster. ``changed`` is true exactly if a write took effect, and in check mode none does."""
    counting = CountingTransport(api.transport)
    outcome = kernel.run(DRUID, replace(api, transport=counting), request, progress, clock)
    if not outcome.problems:
        # a failed reconcile may have sent writes, of steps that it does not report
        is_real = not request.options.check_mode
        assert bool(counting.writes) == (outcome.changed and is_real), (outcome.plan, counting.writes)
    return outcome


@dataclass
class CountingTransport:
    """Sends requests, and remembers the writes that took effect, apart from status and events."""

    inner: Transport
    writes: list[str] = field(default_factory=list)

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Send a request."""
        answer = self.inner.request(method, url, **arguments)
        target = urlsplit(url)
        is_report = target.path.endswith(("/status", "/events"))
        if method != "GET" and answer.status < 400 and not is_report and "dryRun=" not in target.query:
            self.writes.append(f"{method} {target.path}")
        return answer


def one_pass(live: NamespaceClient, name: str, check_mode: bool = False, **request: Any) -> Outcome[Plan]:
    """Reconcile a cluster once, as a task without `wait` does."""
    requested = cluster_request(name, live.namespace, options=Options(check_mode), **request)
    return run(connection(live), requested, lambda _text: None, Clock())


def until_reached(live: NamespaceClient, name: str, **request: Any) -> Outcome[Plan]:
    """Reconcile until the cluster is in the desired state."""
    requested = cluster_request(name, live.namespace, wait=True, wait_timeout=300, wait_sleep=0, **request)
    clock = Clock(sleep=lambda _seconds: None)
    outcome = run(connection(live), requested, lambda _text: None, clock)
    assert not outcome.timed_out
    return outcome


def until_ready(live: NamespaceClient, name: str, **request: Any) -> Outcome[Plan]:
    """Reconcile until the cluster is ready."""
    outcome = until_reached(live, name, **request)
    assert outcome.report is not None
    assert outcome.report.is_ready, outcome.report.status
    return outcome


def good(outcome: Outcome[Plan] | None) -> Outcome[Plan]:
    """Return the outcome of a run without problems."""
    assert outcome is not None
    problems = () if outcome.report is None else outcome.report.problems
    assert problems == (), problems
    return outcome
