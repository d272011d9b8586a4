# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator of this commit and that of another one, one after the other on one control plane: what they cost."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from testbed.control_plane import ControlPlane
from testbed.operator.started import which_program

from .measure import verdict
from .measured_operator import BUSY_SECONDS, GROUPS, IDLE_SECONDS, NO_PERIOD, Image, lay_out, started

CLUSTERS = 20
# So many times the clusters are deleted while a new one is created.
DELETED = 4
THIS = "this commit"
Figures = dict[str, float]


class Row(NamedTuple):
    """A figure by its name, what is measured, its unit, and the target for this commit and 20 clusters."""

    figure: str
    title: str
    unit: str
    target: float


def rows_of(clusters: int) -> Sequence[Row]:
    """Return the rows of the table."""
    return (
        Row("run cpu", "no-op run, CPU time", " s", 0.1),
        Row("run wall", "no-op run, wall-clock time", " s", 0.1),
        Row("idle", f"{clusters} idle clusters, period 60 s: share of a core", " %", 3.5),
        Row("deleted", "deleted child restored", " s", 0.3),
        Row("edited", "edited child restored", " s", 0.3),
        Row("created wall", f"{clusters} clusters created, wall-clock time", " s", 12),
        Row("created cpu", f"{clusters} clusters created, CPU time", " s", 10),
        Row("created requests", f"{clusters} clusters created, requests", "", 1700),
        Row("first object", f"first object of another namespace while {DELETED * clusters} are deleted", " s", 5),
        Row("memory", "memory of all processes while runs are due all the time", " MiB", 170),
    )


def compare(plane: ControlPlane, scratch: Path, rounds: int, clusters: int, base: str | None) -> None:
    """Measure both, print the table, and report for each target whether it is met."""
    _print(f"Operators with {clusters} clusters of {GROUPS} groups, {which_program()}")
    _print(f"Kubernetes {plane.kubernetes.release}, {os.cpu_count()} processors, load {_load()}")
    commits = {THIS: None, **({base: base} if base else {})}
    images = {name: lay_out(scratch / f"image-{number}", each) for number, (name, each) in enumerate(commits.items())}
    found = {
        name: _at_work(plane, image, scratch / str(number), rounds, clusters)
        for number, (name, image) in enumerate(images.items())
    }
    rows = rows_of(clusters)
    _table(rows, found)
    for row in rows:
        verdict(row.title, found[THIS][row.figure], row.target, row.unit)
    _print(f"load {_load()}")


def _at_work(plane: ControlPlane, image: Image, scratch: Path, rounds: int, clusters: int) -> Figures:
    """Return the figures of an operator that creates clusters, has nothing to do, and deletes them."""
    names = [f"c{number:03}" for number in range(DELETED * clusters)]
    few = names[:clusters]
    with started(plane, image, scratch / "work") as operator:
        operator.warm_up("first")
        created = operator.create(few)
        _note("created", created)
        restored = operator.restored(few)
        _note("restored", restored)
        operator.settle(few)
        idle = operator.idle_share()
        _note(f"idle for {IDLE_SECONDS} s", idle)
        long_period = operator.long_period(few[0])
    with started(plane, image, scratch / "run", period=long_period) as operator:
        # the runs of its start
        operator.settle(few)
        run = operator.no_op(few[0], rounds, scratch)
        _note("a run", run)
    with started(plane, image, scratch / "busy", period=NO_PERIOD) as operator:
        busy = operator.busy()
        _note(f"busy for {BUSY_SECONDS} s", busy)
    with started(plane, image, scratch / "deletion") as operator:
        operator.create(names[clusters:])
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


def _table(rows: Sequence[Row], found: Mapping[str, Figures]) -> None:
    _print(f"  {'':62} {''.join(f'{name:>15}' for name in found)}")
    for row in rows:
        figures = (f"{figures[row.figure]:.2f}{row.unit}" for figures in found.values())
        _print(f"  {row.title:62} {''.join(f'{figure:>15}' for figure in figures)}")


def _load() -> str:
    return ", ".join(f"{each:.1f}" for each in os.getloadavg())


def _note(what: str, figures: object) -> None:
    print(f"  {what}: {figures}, load {_load()}", file=sys.stderr, flush=True)


def _print(line: str) -> None:
    print(line, flush=True)
