# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The controller of one kind: from changes to reconciles, a number of them at once."""

from __future__ import annotations

import logging
import threading
import time

from ..api import ApiError
from .cache import Cache
from .client import Json, NoAnswer
from .kinds import Key, key_of
from .own_metrics import ControllerMetrics
from .reconciler import ReconcileError, Reconciler
from .watches import Watch
from .work_queue import WorkQueue

_LOG = logging.getLogger("controller")
# what can go wrong in a reconcile without being a fault of this program; the period of a requeue_after is a ValueError
_ERRORS = (ReconcileError, ApiError, NoAnswer, OSError, ValueError)


class Controller:
    """Workers on the resources of one kind."""

    def __init__(self, watch: Watch, queue: WorkQueue, reconciler: Reconciler, cache: Cache) -> None:
        self._queue = queue
        self._reconciler = reconciler
        self.metrics = ControllerMetrics(watch.kind, watch.workers, queue)
        cache.add_handler(reconciler.resource, self._handle)
        self._workers = [threading.Thread(target=self._work, daemon=True) for _each in range(watch.workers)]
        for worker in self._workers:
            worker.start()

    def stop(self) -> None:
        """Begin no more reconciles."""
        self._queue.close()

    def wait(self, until: float) -> bool:
        """Wait for the reconciles that have begun; whether all of them have ended by then (time.monotonic)."""
        for worker in self._workers:
            worker.join(max(0.0, until - time.monotonic()))
        return not any(worker.is_alive() for worker in self._workers)

    def _handle(self, old: Json | None, new: Json | None) -> None:
        if is_cause(old, new):
            self._queue.add(key_of(new or old or {}))

    def _work(self) -> None:
        while (key := self._queue.get()) is not None:
            with self.metrics.reconcile() as count:
                count(self._reconcile(key))
            self._queue.done(key)

    def _reconcile(self, key: Key) -> str:
        """Reconcile, and queue what follows; the result for the metrics."""
        try:
            delay = self._reconciler.reconcile(key)
        except _ERRORS as error:
            _LOG.error("Reconciler error resource=%s: %s", key, error)
            self._queue.add_failed(key)
            return "error"
        self._queue.forget(key)
        if delay > 0:
            self._queue.add_after(key, delay)
            return "requeue_after"
        return "success"


def is_cause(old: Json | None, new: Json | None) -> bool:
    """Whether a change of a resource starts a run: not one of status or labels alone."""
    if old is None or new is None:
        return True
    before, after = old["metadata"], new["metadata"]
    annotated = (before.get("annotations") or {}) != (after.get("annotations") or {})
    return annotated or before["generation"] != after["generation"]
