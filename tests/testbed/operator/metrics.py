# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Metrics as Prometheus reads them: the program's own, and those that the runs post, singly and without labels."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

# Those of the Go client where nobody has said others.
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
TYPES = ("counter", "gauge", "histogram", "summary")
_FIELDS: Mapping[str, Mapping[str, type]] = {
    "counter": {"increment": bool, "add": float},
    "gauge": {
        "set": float,
        "increment": bool,
        "decrement": bool,
        "set_to_current_time": bool,
        "add": float,
        "subtract": float,
    },
    "histogram": {"observe": float},
    "summary": {"observe": float},
}

Labels = Mapping[str, str]
Sample = tuple[str, Labels, float]


class RefusedError(ValueError):
    """A metric that is not taken."""


@dataclass
class Family:
    """A metric with all its samples: what comes after its name, labels, value."""

    name: str
    type: str
    help: str
    samples: Callable[[], Iterable[Sample]]


def exposition(families: Iterable[Family]) -> str:
    """The text that is answered to a scrape; a family without samples does not appear."""
    return "".join(_lines(each) for each in sorted(families, key=lambda each: each.name))


def _lines(family: Family) -> str:
    samples = "".join(
        f"{family.name}{suffix}{_labels(labels)} {_number(value)}\n" for suffix, labels, value in family.samples()
    )
    return f"# HELP {family.name} {family.help}\n# TYPE {family.name} {family.type}\n{samples}" if samples else ""


def _number(value: float) -> str:
    """As Go writes it."""
    return repr(float(value)).removesuffix(".0")


def _labels(labels: Labels) -> str:
    escaped = {name: text.replace("\\", "\\\\").replace('"', '\\"') for name, text in labels.items()}
    return "{" + ",".join(f'{name}="{text}"' for name, text in escaped.items()) + "}" if labels else ""


@dataclass
class Histogram:
    """Counts observations by size."""

    buckets: tuple[float, ...] = BUCKETS
    counts: dict[float, int] = field(default_factory=dict)
    total: int = 0
    sum: float = 0.0

    def observe(self, value: float) -> None:
        """Count one."""
        self.total += 1
        self.sum += value
        for bound in self.buckets:
            if value <= bound:
                self.counts[bound] = self.counts.get(bound, 0) + 1

    def samples(self, labels: Labels | None = None) -> Iterator[Sample]:
        """What is exposed of it."""
        own = labels or {}
        for bound in self.buckets:
            yield "_bucket", {**own, "le": f"{bound:g}"}, self.counts.get(bound, 0)
        yield "_bucket", {**own, "le": "+Inf"}, self.total
        yield from (("_sum", own, self.sum), ("_count", own, self.total))


@dataclass
class _UserMetric:
    type: str
    help: str
    value: float = 0.0
    histogram: Histogram = field(default_factory=Histogram)

    def samples(self) -> Iterable[Sample]:
        if self.type == "histogram":
            return self.histogram.samples()
        if self.type == "summary":
            return (("_sum", {}, self.histogram.sum), ("_count", {}, self.histogram.total))
        return (("", {}, self.value),)


class UserMetrics:
    """What the runs have posted since the program's start."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._metrics: dict[str, _UserMetric] = {}

    def families(self) -> list[Family]:
        """For a scrape."""
        with self._lock:
            found = [(name, each, list(each.samples())) for name, each in self._metrics.items() if name]
        return [Family(name, each.type, each.help, partial(list, samples)) for name, each, samples in found]

    def post(self, body: bytes) -> None:
        """Take what is posted; a RefusedError if that is not possible."""
        document = _document(body)
        stated = [kind for kind in TYPES if document.get(kind) is not None]
        if len(stated) != 1:
            many = "only one metric can be processed at a time"
            raise RefusedError(many if stated else "a request should contain at least one metric")
        change = _change(stated[0], document[stated[0]])
        name = str(document.get("name", ""))
        with self._lock:
            metric = self._metrics.setdefault(name, _UserMetric(stated[0], str(document.get("description", ""))))
            if _family(metric.type) != _family(stated[0]):
                raise RefusedError(f"cannot change metric type of {name}, which is a {_family(metric.type)}")
            _CHANGES[_family(metric.type)](metric, change)


def _family(kind: str) -> str:
    """The program does not tell the last two from each other."""
    return "histogram or summary" if kind in ("histogram", "summary") else kind


def _document(body: bytes) -> Mapping[str, Any]:
    try:
        # what comes after the first value is not looked at
        document, _end = json.JSONDecoder().raw_decode(body.decode().lstrip())
    except ValueError as error:
        raise RefusedError(str(error)) from error
    if not isinstance(document, dict):
        raise RefusedError("json: cannot unmarshal into Go value of type metrics.UserMetric")
    return document


def _change(kind: str, stated: Any) -> dict[str, Any]:
    """The fields, those that are not stated empty; a RefusedError for values of another type."""
    if not isinstance(stated, dict):
        raise RefusedError(f"json: cannot unmarshal into Go struct field UserMetric.{kind}")
    change = {name: stated.get(name) or wanted() for name, wanted in _FIELDS[kind].items()}
    for name, value in change.items():
        wanted = _FIELDS[kind][name]
        if isinstance(value, bool) != (wanted is bool) or not isinstance(value, bool | int | float):
            raise RefusedError(f"json: cannot unmarshal into Go struct field UserMetric.{kind}.{name}")
    return change


def _change_counter(metric: _UserMetric, change: Mapping[str, Any]) -> None:
    if not change["increment"] and change["add"] < 0:
        raise RefusedError("counter metrics cannot decrease in value")
    metric.value += 1 if change["increment"] else change["add"]


def _change_gauge(metric: _UserMetric, change: Mapping[str, Any]) -> None:
    """The first that is stated counts, and a 0 is as good as nothing: a gauge cannot be set to it."""
    steps = ((change["increment"], 1), (change["decrement"], -1), (change["add"], change["add"]))
    step = next((by for stated, by in (*steps, (change["subtract"], -change["subtract"])) if stated), None)
    if step is not None:
        metric.value += step
    elif change["set"]:
        metric.value = change["set"]
    elif change["set_to_current_time"]:
        metric.value = time.time()


def _observe(metric: _UserMetric, change: Mapping[str, Any]) -> None:
    metric.histogram.observe(change["observe"])


_CHANGES: Mapping[str, Callable[[_UserMetric, Mapping[str, Any]], None]] = {
    "counter": _change_counter,
    "gauge": _change_gauge,
    "histogram or summary": _observe,
}
