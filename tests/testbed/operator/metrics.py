# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Metrics in Prometheus' text format, and those that runs post: one at a time, without labels."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

# the Go client's default
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_TYPES = ("counter", "gauge", "histogram")

Labels = Mapping[str, str]
# what follows the metric's name, labels, value
Sample = tuple[str, Labels, float]


class RejectedError(ValueError):
    """A metric that is not accepted."""


@dataclass(frozen=True)
class Metric:
    """A metric with its samples."""

    name: str
    type: str
    help: str
    samples: Iterable[Sample]


def exposition(metrics: Iterable[Metric]) -> str:
    """The response to a scrape."""
    return "".join(
        f"# HELP {each.name} {each.help}\n# TYPE {each.name} {each.type}\n{''.join(_lines(each))}" for each in metrics
    )


def _lines(metric: Metric) -> Iterator[str]:
    for suffix, labels, value in metric.samples:
        text = ",".join(f'{name}="{each}"' for name, each in labels.items())
        yield f"{metric.name}{suffix}{f'{{{text}}}' if text else ''} {float(value)!r}\n"


@dataclass
class Histogram:
    """Counts observations by size."""

    buckets: tuple[float, ...] = BUCKETS
    observed: list[float] = field(default_factory=list)

    def samples(self, labels: Labels | None = None) -> list[Sample]:
        """What is exposed of it."""
        own = labels or {}
        bounds = [(f"{bound:g}", bound) for bound in self.buckets] + [("+Inf", float("inf"))]
        buckets = [
            ("_bucket", {**own, "le": name}, sum(each <= bound for each in self.observed)) for name, bound in bounds
        ]
        return [*buckets, ("_sum", own, sum(self.observed)), ("_count", own, len(self.observed))]


class PostedMetrics:
    """What runs have posted since the program's start."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._described: dict[str, tuple[str, str]] = {}
        self._values: dict[str, float] = {}
        self._histograms: dict[str, Histogram] = {}

    def metrics(self) -> list[Metric]:
        """For a scrape."""
        with self._lock:
            return [
                Metric(
                    name,
                    kind,
                    text,
                    self._histograms[name].samples() if kind == "histogram" else [("", {}, self._values[name])],
                )
                for name, (kind, text) in sorted(self._described.items())
            ]

    def post(self, body: bytes) -> None:
        """Accept what is posted; a RejectedError if that is not possible."""
        try:
            document = json.loads(body)
        except ValueError as error:
            raise RejectedError(str(error)) from error
        posted = [kind for kind in _TYPES if document.get(kind) is not None]
        if len(posted) != 1:
            raise RejectedError(f"one metric can be processed at a time, not {len(posted)}")
        (kind,) = posted
        with self._lock:
            known, _text = self._described.setdefault(document["name"], (kind, document.get("description", "")))
            if known != kind:
                raise RejectedError(f"cannot change metric type of {document['name']}, which is a {known}")
            self._change(document["name"], kind, document[kind])

    def _change(self, name: str, kind: str, change: Mapping[str, Any]) -> None:
        before = self._values.setdefault(name, 0.0)
        if kind == "histogram":
            self._histograms.setdefault(name, Histogram()).observed.append(change["observe"])
        elif kind == "gauge" and change.get("set"):
            # a 0 equals no value: a gauge cannot be set to it
            self._values[name] = change["set"]
        else:
            self._values[name] = before + change.get("add", 0) - change.get("subtract", 0)
