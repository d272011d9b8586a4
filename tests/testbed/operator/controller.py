# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The controller of one kind: from changes to reconciles, so many at once."""

from __future__ import annotations

import logging
import threading
import time

from ..api import ApiError
from .client import Unanswered
from .dependents import Dependents
from .informer import Change
from .kinds import Key, key_of
from .own_metrics import ControllerMetrics
from .predicates import of_primary
from .reconciler import ReconcileError, Reconciler
from .verdict import BadPeriodError
from .watches import Watch
from .work_queue import WorkQueue

_LOG = logging.getLogger("controller")
# what can go wrong in a reconcile without being a fault of this program
_ERRORS = (ReconcileError, BadPeriodError, ApiError, Unanswered, OSError)


class Controller:
    """Workers on the resources of one kind."""

    def __init__(self, watch: Watch, queue: WorkQueue, reconciler: Reconciler, dependents: Dependents) -> None:
        self.watch = watch
        self.dependents = dependents
        self._queue = queue
        self._reconciler = reconciler
        workers = watch.max_concurrent_reconciles
        self.metrics = ControllerMetrics(watch.kind, workers, lambda: queue.depth, lambda: queue.adds)
        self._workers = [
            threading.Thread(target=self._work, name=f"{watch.kind.kind}-{number}", daemon=True)
            for number in range(workers)
        ]

    def start(self) -> None:
        """Begin with all resources that there are."""
        self._reconciler.cache.add_handler(self._reconciler.resource, self._handle)
        for worker in self._workers:
            worker.start()

    def stop(self) -> None:
        """Begin nothing more."""
        self._queue.close()

    def wait(self, until: float) -> bool:
        """Whether all that was begun has ended before that moment of the monotonic clock."""
        for worker in self._workers:
            if worker.ident is not None:
                worker.join(max(0.0, until - time.monotonic()))
        return not any(worker.is_alive() for worker in self._workers)

    def _handle(self, change: Change) -> None:
        if of_primary(change, self.watch):
            self._queue.add(key_of(change.new))

    def _work(self) -> None:
        while (key := self._queue.get()) is not None:
            try:
                self._reconcile(key)
            finally:
                self._queue.done(key)

    def _reconcile(self, key: Key) -> None:
        with self.metrics.reconcile() as ended_in:
            ended_in(self._result(key))

    def _result(self, key: Key) -> str:
        """Reconcile; what came of it, as the metrics name it."""
        try:
            delay = self._reconciler.reconcile(key)
        except _ERRORS as error:
            _LOG.error("Reconciler error kind=%s resource=%s: %s", self.watch.kind.kind, key, error)
            self._queue.add_failed(key)
            return "error"
        else:
            self._queue.forget(key)
            if delay > 0:
                self._queue.add_after(key, delay)
            return "requeue_after" if delay > 0 else "success"
