# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The program: reads its settings, starts its parts, and ends when it is told to or has to."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..api import ApiError
from . import api_proxy, metrics_endpoints, own_metrics, probes
from .cache import Cache
from .client import Client, Unanswered, credentials
from .controller import Controller
from .dependents import Dependents
from .kinds import Resource
from .launch import Launcher
from .leader import Candidate, LostError
from .metrics import UserMetrics, exposition
from .reconciler import Reconciler
from .resources import NoSuchResourceError, Resources
from .settings import METRICS_PORT, PROXY_PORT, Settings, settings
from .watches import Watch, load
from .work_queue import WorkQueue

_LOG = logging.getLogger("program")
# How often controller-runtime looks for a kind that the API server does not know yet.
_KIND_PAUSE_SECONDS = 10
_SIGNAL_PAUSE_SECONDS = 0.5
# The real program's runs always go to 8888; with this variable, which only the stand-in knows, several can run at once.
_PROXY_PORT = "ANSIBLE_OPERATOR_STAND_IN_PROXY_PORT"
# The same for the port to which they post metrics.
_METRICS_PORT = "ANSIBLE_OPERATOR_STAND_IN_METRICS_PORT"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until SIGTERM; the exit status: 1 if something went wrong, or was still going on when patience ended."""
    environment = dict(os.environ)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    for noisy in ("urllib3.connectionpool", "urllib3.connection"):
        logging.getLogger(noisy).setLevel(logging.ERROR)
    asked = settings(sys.argv[1:] if arguments is None else arguments, environment)
    try:
        watches = load(
            asked.watches_file.read_text(),
            environment,
            workers=asked.max_concurrent_reconciles,
            verbosity=asked.ansible_verbosity,
        )
    except (OSError, ValueError) as error:
        _LOG.error("Failed to load watches: %s", error)
        return 1
    return _Program(asked, watches, environment).run()


class _Program:
    def __init__(self, asked: Settings, watches: Sequence[Watch], environment: Mapping[str, str]) -> None:
        self._asked = asked
        self._environment = environment
        self._client = Client(credentials(Path(environment["KUBECONFIG"])))
        self._cache = Cache(self._client, asked.namespaces)
        self._resources = Resources(self._client)
        self._queues = {watch.kind: WorkQueue() for watch in watches}
        self._watches = watches
        self._dependents = {
            watch.kind: Dependents(watch, self._cache, self._resources, self._queues[watch.kind].add)
            for watch in watches
        }
        self._ended = threading.Event()
        self._lost = False
        self._is_leader = False
        self._posted = UserMetrics()
        self._controllers: list[Controller] = []

    def run(self) -> int:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._told_to_end)
        # one that only the stand-in knows
        port = int(self._environment.get(_PROXY_PORT, self._asked.proxy_port))
        api_proxy.serve(
            api_proxy.Behind(
                self._client, self._cache, self._resources, self._dependents, self._asked.inject_owner_ref
            ),
            port,
        )
        metrics_endpoints.serve_posts(int(self._environment.get(_METRICS_PORT, METRICS_PORT)), self._posted.post)
        if self._asked.metrics_address:
            metrics_endpoints.serve_scrapes(self._asked.metrics_address, self._metrics)
        # last: who is told that it is ready may ask for all of the above
        if self._asked.probe_address:
            probes.serve(self._asked.probe_address)
        threading.Thread(target=self._lead, daemon=True).start()
        # not without end: a signal that the kernel has another thread take wakes nobody
        while not self._ended.wait(_SIGNAL_PAUSE_SECONDS):
            pass
        return self._end()

    def _metrics(self) -> str:
        """What is answered to a scrape."""
        own = [
            *own_metrics.of_process(),
            own_metrics.of_requests(self._client.requests, self._client.host),
            *(family for controller in self._controllers for family in controller.metrics.families()),
        ]
        if self._asked.election:
            own.append(own_metrics.of_election(self._asked.election.id, self._is_leader))
        names = {each.name for each in own}
        # a name that is taken cannot be registered
        posted = [each for each in self._posted.families() if each.name not in names]
        return exposition([*own_metrics.merged(own), *posted])

    def _told_to_end(self, *_signal: object) -> None:
        if self._ended.is_set():
            os._exit(1)
        self._ended.set()

    def _lead(self) -> None:
        """Start the controllers, as the leader if there may be others."""
        if self._asked.election is None:
            self._start()
            return
        candidate = Candidate(self._client, self._asked.election)
        candidate.acquire()
        self._is_leader = True
        self._start()
        try:
            candidate.keep()
        except LostError as error:
            _LOG.error("%s", error)
            self._lost = True
            self._ended.set()

    def _start(self) -> None:
        for watch in self._watches:
            controller = self._controller(watch, self._resource(watch))
            self._controllers.append(controller)
            controller.start()
            _LOG.info("Watching resource kind=%s workers=%d", watch.kind, watch.max_concurrent_reconciles)

    def _resource(self, watch: Watch) -> Resource:
        """The resource of the kind, as soon as its CRD is there."""
        while True:
            try:
                return self._resources.of_kind(watch.kind)
            except (NoSuchResourceError, ApiError, Unanswered) as error:
                _LOG.error("if kind is a CRD, it should be installed before calling Start: %s", error)
                if self._ended.wait(_KIND_PAUSE_SECONDS):
                    # ends this thread: there is nothing to control any more
                    raise SystemExit from error

    def _controller(self, watch: Watch, resource: Resource) -> Controller:
        queue = self._queues[watch.kind]
        reconciler = Reconciler(
            resource=resource,
            client=self._client,
            cache=self._cache,
            launcher=Launcher(watch, self._asked.ansible_args, self._environment),
            period=watch.reconcile_period or self._asked.reconcile_period,
            proxy_port=int(self._environment.get(_PROXY_PORT, PROXY_PORT)),
            log_events=self._asked.ansible_log_events,
        )
        return Controller(watch, queue, reconciler, self._dependents[watch.kind])

    def _end(self) -> int:
        """Begin nothing more, and wait for what has begun; the runs themselves are told nothing."""
        if self._lost:
            return 1
        _LOG.info("Stopping and waiting for what has begun")
        until = time.monotonic() + self._asked.graceful_shutdown_timeout
        for controller in self._controllers:
            controller.stop()
        # all of them: each looks at the clock itself
        ended = [controller.wait(until) for controller in self._controllers]
        if not all(ended):
            _LOG.error("failed waiting for all runnables to end within grace period")
            return 1
        _LOG.info("Exiting.")
        return 0
