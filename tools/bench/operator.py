# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An operator with the resident process, and one without, in turn on one control plane: what they cost."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from testbed.control_plane import ControlPlane
from testbed.operator.started import which_program

from .measure import verdict
from .measured_operator import BUSY_SECONDS, GROUPS, IDLE_SECONDS, LONG_PERIOD, NO_PERIOD, lay_out, started

CLUSTERS = 20
MANY = 200
DELETED = 80
WARM, ORDINARY = "with the resident process", "ordinary runs"
Figures = dict[str, float]


class Row(NamedTuple):
    """A figure by its name, what is measured, its unit, and the target for the operator with the resident process."""

    figure: str
    title: str
    unit: str
    target: float
    at_least: bool = False


ROWS = (
    Row("run wall", "no-op run, wall-clock time", " s", 0.08),
    Row("run cpu", "no-op run, CPU time", " s", 0.05),
    Row("idle", f"{CLUSTERS} idle clusters, period 60 s: share of a core", " %", 2.5),
    Row("runs", "runs per second", "", 20, at_least=True),
    Row("deleted", "deleted child restored", " s", 0.4),
    Row("edited", "edited child restored", " s", 0.4),
    Row("first object", f"first object of a new cluster while {DELETED} are deleted", " s", 5),
    Row("created wall", f"{CLUSTERS} clusters created, wall-clock time", " s", 10),
    Row("created cpu", f"{CLUSTERS} clusters created, CPU time", " s", 5),
    Row("created requests", f"{CLUSTERS} clusters created, requests", "", 700),
    Row("memory", "memory of all processes while runs are due all the time", " MiB", 200),
)


def rows_of_many(clusters: int) -> Sequence[Row]:
    """Return the rows of the measurement with many clusters."""
    return (
        Row("many idle", f"{clusters} idle clusters, period 60 s: share of a core", " %", 25),
        Row("late", f"{clusters} idle clusters: the latest run, after its time", " s", 5),
    )


def compare(plane: ControlPlane, scratch: Path, rounds: int, many: int) -> None:
    """Measure both, print the table, and report for each target whether it is met."""
    _print(f"Operators with {CLUSTERS} clusters of {GROUPS} groups, {which_program()}")
    _print(f"Kubernetes {plane.kubernetes.release}, {os.cpu_count()} processors, load {_load()}")
    image = lay_out(scratch / "image")
    found = {
        way: _at_work(plane, image, scratch / str(number), rounds, is_warm=way == WARM)
        for number, way in enumerate((WARM, ORDINARY))
    }
    _table(ROWS, found)
    _verdicts(ROWS, found[WARM])
    for measure in ("wall", "cpu"):
        figure = f"run {measure}"
        verdict(f"{figure}: a tenth of the ordinary run", found[WARM][figure], found[ORDINARY][figure] / 10)
    if many:
        rows, of_many = rows_of_many(many), _many(plane, image, scratch, many)
        _table(rows, of_many)
        _verdicts(rows, of_many[WARM])
    _print(f"load {_load()}")


def _at_work(plane: ControlPlane, image: Path, scratch: Path, rounds: int, *, is_warm: bool) -> Figures:
    """Return the figures of an operator that creates clusters, has nothing to do, and deletes them."""
    names = [f"c{number:02}" for number in range(DELETED)]
    few = names[:CLUSTERS]
    with started(plane, image, scratch / "work", is_warm=is_warm) as operator:
        operator.warm_up("first")
        created = operator.create(few)
        _note("created", created)
        restored = operator.restored(few)
        _note("restored", restored)
        operator.settle(few)
        idle = operator.idle_share()
        _note(f"idle for {IDLE_SECONDS} s", idle)
    with started(plane, image, scratch / "run", is_warm=is_warm, period=LONG_PERIOD) as operator:
        # the runs of its start
        operator.settle(few)
        run = operator.no_op(few[0], rounds, scratch)
        _note("a run", run)
    with started(plane, image, scratch / "busy", is_warm=is_warm, period=NO_PERIOD) as operator:
        busy = operator.busy()
        _note(f"busy for {BUSY_SECONDS} s", busy)
    with started(plane, image, scratch / "deletion", is_warm=is_warm) as operator:
        operator.create(names[CLUSTERS:])
        first = operator.first_object_while_deleting("new")
        _note("first object", first)
    return {
        "run wall": run.wall,
        "run cpu": run.cpu,
        "idle": idle,
        **busy,
        **restored,
        "first object": first,
        **{f"created {name}": figure for name, figure in created.items()},
    }


def _many(plane: ControlPlane, image: Path, scratch: Path, many: int) -> Mapping[str, Figures]:
    """Return the figures of both with many clusters, which the first one creates."""
    names = [f"m{number:03}" for number in range(many)]
    found = {}
    for way in (WARM, ORDINARY):
        with started(plane, image, scratch / f"many-{way}", is_warm=way == WARM) as operator:
            if way == WARM:
                _note(f"created {many}", operator.create(names))
            # the runs of its start, and those that have found something to do
            operator.idle_share()
            found[way] = {"many idle": operator.idle_share(), "late": operator.most_late()}
            _note("idle", found[way])
    return found


def _table(rows: Sequence[Row], found: Mapping[str, Figures]) -> None:
    _print(f"  {'':62} {WARM:>26} {ORDINARY:>15}")
    for row in rows:
        warm, ordinary = (f"{found[way][row.figure]:.2f}{row.unit}" for way in (WARM, ORDINARY))
        _print(f"  {row.title:62} {warm:>26} {ordinary:>15}")


def _verdicts(rows: Sequence[Row], figures: Figures) -> None:
    for row in rows:
        verdict(row.title, figures[row.figure], row.target, row.unit, at_least=row.at_least)


def _load() -> str:
    return ", ".join(f"{each:.1f}" for each in os.getloadavg())


def _note(what: str, figures: object) -> None:
    print(f"  {what}: {figures}, load {_load()}", file=sys.stderr, flush=True)


def _print(line: str) -> None:
    print(line, flush=True)
