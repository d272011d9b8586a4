# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Metrics of the program itself: those that alerts and dashboard use, named as controller-runtime (v0.21) does."""

from __future__ import annotations

import resource
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from .kinds import Kind
from .metrics import Family, Histogram, Labels, Sample

_RESULTS = ("error", "requeue", "requeue_after", "success")
_TIMES = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    *(1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0),
    *(40.0, 50.0, 60.0),
)
_STARTED = time.time()


class ControllerMetrics:
    """What a controller has done, and does at the moment."""

    def __init__(self, kind: Kind, workers: int, depth: Callable[[], int], adds: Callable[[], int]) -> None:
        self._name = f"{kind.kind.lower()}-{kind.version}-controller"
        self._workers = workers
        self._depth, self._adds = depth, adds
        self._lock = threading.Lock()
        self._results: Counter[str] = Counter()
        self._time = Histogram(_TIMES)
        self._began: dict[int, float] = {}

    @contextmanager
    def reconcile(self) -> Iterator[Callable[[str], None]]:
        """Take the time of one; its result is one of error, requeue_after and success."""
        began, worker = time.monotonic(), threading.get_ident()
        with self._lock:
            self._began[worker] = began
        try:
            yield self._count
        finally:
            with self._lock:
                del self._began[worker]
                self._time.observe(time.monotonic() - began)

    def _count(self, result: str) -> None:
        with self._lock:
            self._results[result] += 1

    def families(self) -> list[Family]:
        """For a scrape."""
        own = {"controller": self._name}
        queue = {"name": self._name, **own}
        with self._lock:
            results, errors = Counter(self._results), self._results["error"]
            running = [time.monotonic() - began for began in self._began.values()]
            took = list(self._time.samples(own))
        totals = [("", {**own, "result": result}, results[result]) for result in _RESULTS]
        prefix = "controller_runtime"
        return [
            _family(f"{prefix}_reconcile_total", "counter", totals),
            _family(f"{prefix}_reconcile_time_seconds", "histogram", took),
            _single(f"{prefix}_reconcile_errors_total", "counter", errors, own),
            _single(f"{prefix}_active_workers", "gauge", len(running), own),
            _single(f"{prefix}_max_concurrent_reconciles", "gauge", self._workers, own),
            _single("workqueue_depth", "gauge", self._depth(), {**queue, "priority": ""}),
            _single("workqueue_adds_total", "counter", self._adds(), queue),
            _single("workqueue_unfinished_work_seconds", "gauge", sum(running), queue),
            _single("workqueue_longest_running_processor_seconds", "gauge", max(running, default=0), queue),
        ]


def of_process() -> list[Family]:
    """What every Go program tells of itself."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return [
        _single("process_cpu_seconds_total", "counter", usage.ru_utime + usage.ru_stime),
        _single("process_resident_memory_bytes", "gauge", pages * resource.getpagesize()),
        _single("process_start_time_seconds", "gauge", _STARTED),
        _single("ansible_operator_build_info", "gauge", 1, {"commit": "none", "version": "stand-in"}),
    ]


def of_election(lease: str, is_leader: bool) -> Family:
    """Who is the leader; without an election nobody says."""
    return _single("leader_election_master_status", "gauge", is_leader, {"name": lease})


def of_requests(counts: Mapping[tuple[str, str], int], host: str) -> Family:
    """Requests of the program itself, by code and method."""
    samples = [("", {"code": code, "host": host, "method": method}, n) for (code, method), n in sorted(counts.items())]
    return _family("rest_client_requests_total", "counter", samples)


def merged(families: Iterable[Family]) -> list[Family]:
    """One family for each name: each controller has samples of its own."""
    found: dict[str, list[Family]] = {}
    for each in families:
        found.setdefault(each.name, []).append(each)
    return [
        _family(name, same[0].type, [sample for each in same for sample in each.samples()])
        for name, same in found.items()
    ]


def _family(name: str, kind: str, samples: Sequence[Sample]) -> Family:
    return Family(name, kind, f"{name} of the stand-in.", lambda: samples)


def _single(name: str, kind: str, value: float, labels: Labels | None = None) -> Family:
    return _family(name, kind, [("", labels or {}, value)])
