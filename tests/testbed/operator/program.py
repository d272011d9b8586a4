# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The program: reads its settings, starts its parts, and ends on SIGTERM or when it loses its lease."""

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
from . import own_metrics
from .cache import Cache
from .client import Client, NoAnswer
from .controller import Controller
from .dependents import Dependents
from .http_servers import Request, Response, serve
from .kinds import Discovery, NoSuchResourceError, Resource
from .launch import Launcher
from .leader import Candidate, LostError
from .metrics import PostedMetrics, RejectedError, exposition
from .proxy import Proxy
from .reconciler import Reconciler
from .settings import METRICS_PORT, PROXY_PORT, Settings, settings
from .watches import Watch, load
from .work_queue import WorkQueue

_LOG = logging.getLogger("program")
# how often controller-runtime polls a kind that the API server does not serve yet
_KIND_PAUSE_SECONDS = 10
_SIGNAL_PAUSE_SECONDS = 0.1
# Variables of the stand-in alone: on other ports than 8888 and 5050, several can run at once.
_PROXY_PORT = "ANSIBLE_OPERATOR_STAND_IN_PROXY_PORT"
_METRICS_PORT = "ANSIBLE_OPERATOR_STAND_IN_METRICS_PORT"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until SIGTERM; the exit status is 1 if something went wrong, or did not end within the grace period."""
    environment = dict(os.environ)
    flags = settings(sys.argv[1:] if arguments is None else arguments, environment)
    line = "%(asctime)s %(levelname)s %(name)s %(message)s"
    logging.basicConfig(stream=sys.stderr, level=flags.log_level, format=line)
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    try:
        watches = load(flags.watches_file.read_text(), environment, flags)
    except (OSError, ValueError) as error:
        _LOG.error("Failed to load watches: %s", error)
        return 1
    return _Program(flags, watches, environment).run()


class _Program:
    def __init__(self, flags: Settings, watches: Sequence[Watch], environment: Mapping[str, str]) -> None:
        self._flags = flags
        self._environment = environment
        self._client = Client(Path(environment["KUBECONFIG"]))
        self._cache = Cache(self._client, flags.namespaces)
        self._discovery = Discovery(self._client)
        self._watches = watches
        self._queues = {watch.kind: WorkQueue() for watch in watches}
        self._proxy_port = int(environment.get(_PROXY_PORT, PROXY_PORT))
        self._posted = PostedMetrics()
        self._ended = threading.Event()
        self._lost = False
        self._is_leader = False
        self._controllers: list[Controller] = []

    def run(self) -> int:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_signal: self._ended.set())
        dependents = {
            kind: Dependents(kind, self._cache, self._discovery, queue.add) for kind, queue in self._queues.items()
        }
        local = "127.0.0.1"
        proxy = Proxy(self._client, self._cache, self._discovery, dependents)
        serve((local, self._proxy_port), proxy.answer)
        serve((local, int(self._environment.get(_METRICS_PORT, METRICS_PORT))), self._post)
        if self._flags.metrics_address:
            serve(self._flags.metrics_address, self._scrape)
        # last: a client may use all of the above as soon as it is ready
        if self._flags.probe_address:
            serve(self._flags.probe_address, lambda _request: Response(content=b"ok"))
        threading.Thread(target=self._lead, daemon=True).start()
        # with a timeout: a signal that the kernel delivers to another thread wakes no thread
        while not self._ended.wait(_SIGNAL_PAUSE_SECONDS):
            pass
        return self._end()

    def _post(self, request: Request) -> Response:
        """Accept a metric from a run."""
        try:
            self._posted.post(request.body)
        except RejectedError as error:
            return Response(400, f"{error}\n".encode())
        return Response()

    def _scrape(self, _request: Request) -> Response:
        own = [
            *own_metrics.of_process(),
            own_metrics.of_requests(self._client.requests, self._client.host),
            *(metric for controller in self._controllers for metric in controller.metrics.metrics()),
        ]
        if self._flags.election:
            own.append(own_metrics.of_election(self._flags.election.id, self._is_leader))
        return Response(content=exposition([*own_metrics.merged(own), *self._posted.metrics()]).encode())

    def _lead(self) -> None:
        """Start the controllers, as the leader if there may be other replicas."""
        if self._flags.election is None:
            self._start()
            return
        candidate = Candidate(self._client, self._flags.election)
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
            reconciler = Reconciler(
                resource=self._resource(watch),
                client=self._client,
                launcher=Launcher(watch, self._environment),
                period=watch.reconcile_period,
                proxy_port=self._proxy_port,
            )
            self._controllers.append(Controller(watch, self._queues[watch.kind], reconciler, self._cache))

    def _resource(self, watch: Watch) -> Resource:
        """The resource of the kind, as soon as its CRD is there."""
        while True:
            try:
                return self._discovery.of_kind(watch.kind)
            except (NoSuchResourceError, ApiError, NoAnswer) as error:
                _LOG.error("if kind is a CRD, it should be installed before calling Start: %s", error)
                time.sleep(_KIND_PAUSE_SECONDS)

    def _end(self) -> int:
        """Begin no more reconciles, and wait for the running ones, which are not notified."""
        if self._lost:
            return 1
        _LOG.info("Stopping and waiting for what has begun")
        until = time.monotonic() + self._flags.graceful_shutdown_timeout
        for controller in self._controllers:
            controller.stop()
        # all of them: each reads the clock itself
        ended = [controller.wait(until) for controller in self._controllers]
        return 0 if all(ended) else 1
