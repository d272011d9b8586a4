# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The program's own metrics: those that alerts and dashboard use, named as controller-runtime (v0.21) does."""

from __future__ import annotations

import resource
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .kinds import Kind
from .metrics import Histogram, Metric, Sample
from .work_queue import WorkQueue

_RESULTS = ("error", "requeue", "requeue_after", "success")
_BUCKETS = (0.005, 0.01, 0.025, 0.05, *(each / 20 for each in range(2, 21)), *(1.25, 1.5, 1.75, 2.0, 2.5))
_TIMES = (*_BUCKETS, *map(float, (3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60)))


class ControllerMetrics:
    """What a controller has done, and does at the moment."""

    def __init__(self, kind: Kind, workers: int, queue: WorkQueue) -> None:
        self._name = f"{kind.kind.lower()}-{kind.version}-controller"
        self._workers = workers
        self._queue = queue
        self._lock = threading.Lock()
        self._results: Counter[str] = Counter()
        self._time = Histogram(_TIMES)
        self._began: dict[int, float] = {}

    @contextmanager
    def reconcile(self) -> Iterator[Callable[[str], None]]:
        """Measure one; what it yields is called with the result: error, requeue_after or success."""
        began, worker = time.monotonic(), threading.get_ident()
        with self._lock:
            self._began[worker] = began
        try:
            yield self._count
        finally:
            with self._lock:
                del self._began[worker]
                self._time.observed.append(time.monotonic() - began)

    def _count(self, result: str) -> None:
        with self._lock:
            self._results[result] += 1

    def metrics(self) -> list[Metric]:
        """For a scrape."""
        own = {"controller": self._name}
        queue = {"name": self._name, **own}
        with self._lock:
            totals = [("", {**own, "result": result}, self._results[result]) for result in _RESULTS]
            running = [time.monotonic() - began for began in self._began.values()]
            took, errors = self._time.samples(own), self._results["error"]
        prefix = "controller_runtime"
        return [
            _metric(f"{prefix}_reconcile_total", "counter", *totals),
            _metric(f"{prefix}_reconcile_time_seconds", "histogram", *took),
            _metric(f"{prefix}_reconcile_errors_total", "counter", ("", own, errors)),
            _metric(f"{prefix}_active_workers", "gauge", ("", own, len(running))),
            _metric(f"{prefix}_max_concurrent_reconciles", "gauge", ("", own, self._workers)),
            _metric("workqueue_depth", "gauge", ("", {**queue, "priority": ""}, self._queue.depth)),
            _metric("workqueue_longest_running_processor_seconds", "gauge", ("", queue, max(running, default=0))),
        ]


def of_process() -> list[Metric]:
    """Those of every Go program."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return [
        _metric("process_cpu_seconds_total", "counter", ("", {}, usage.ru_utime + usage.ru_stime)),
        _metric("process_resident_memory_bytes", "gauge", ("", {}, pages * resource.getpagesize())),
    ]


def of_election(lease: str, is_leader: bool) -> Metric:
    """Whether it is the leader; there is none of these without an election."""
    return _metric("leader_election_master_status", "gauge", ("", {"name": lease}, is_leader))


def of_requests(counts: Mapping[tuple[str, str], int], host: str) -> Metric:
    """The program's requests to the API server, by code and method."""
    labels = [({"code": code, "host": host, "method": method}, count) for (code, method), count in counts.items()]
    return _metric("rest_client_requests_total", "counter", *(("", each, count) for each, count in labels))


def merged(metrics: Iterable[Metric]) -> list[Metric]:
    """One metric for each name: each controller has samples of its own."""
    found: dict[str, Metric] = {}
    for each in metrics:
        before = found.get(each.name)
        found[each.name] = _metric(each.name, each.type, *(before.samples if before else ()), *each.samples)
    return list(found.values())


def _metric(name: str, kind: str, *samples: Sample) -> Metric:
    return Metric(name, kind, f"{name} of the stand-in.", samples)
