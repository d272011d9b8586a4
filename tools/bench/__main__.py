# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run by `make bench`: measures, prints a table, and reports for each target whether it is met."""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from testbed.control_plane import ControlPlane, control_plane
from testbed.druid.druid import Druid

from . import ingestions, operator, rollouts, supervisors
from .clusters import NAMESPACE, create, make_room, stock_playbook
from .measure import Cost, Program, alternate, verdict

USER = "druidops"
PARTS = ("clusters", "scale", "supervisors", "ingestions", "operator", "rollout")
MANY = 100
CRDS = [Path("config/crd") / f"{name}.yaml" for name in ("druids", "druidingestions", "collectors")]
EMPTY_PLAY = '[{"hosts": "localhost", "connection": "local", "gather_facts": false, "tasks": []}]'

EMPTY = "empty play"
BARE = "python -c pass"
IMPORT = "import kubernetes.config"
FOUR = "no-op reconcile, 4 groups"
ALONE = "no-op reconcile, alone"
AMONG = "no-op reconcile, among many"
TWENTY = "no-op reconcile, 20 groups"
LARGE = "no-op reconcile, 20 groups, 500 KiB of common files"
STOCK = "kubernetes.core.k8s, the same objects of 4 groups"
KEPT = "supervisor, all in one task"
LOOPED = "supervisor, one task per supervisor"
BY_HAND = "uri, one task per supervisor"
INGESTION = "no-op reconcile of an ingestion, alone in its namespace"
INGESTION_AMONG = "no-op reconcile of an ingestion among 100"
INGESTIONS = "no-op reconciles of 100 ingestions, in one task"


@dataclass(frozen=True)
class Core:
    """A version of ansible-core and of kubernetes.core."""

    version: str
    programs: Path
    kubernetes_core: str


def main() -> None:
    """Measure with one control plane and one Druid, and remove them afterwards."""
    arguments = _arguments()
    # Clean up after SIGTERM, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if arguments.part in ("all", "clusters"):
        _clusters(arguments)
    if arguments.part in ("all", "scale"):
        _scale(_cores()[-1], arguments.rounds, arguments.clusters or MANY)
    if arguments.part in ("all", "supervisors"):
        _supervisors(_cores()[-1], arguments.rounds, arguments.supervisors)
    if arguments.part in ("all", "ingestions"):
        _ingestions(_cores()[-1], arguments.rounds)
    if arguments.part in ("all", "operator"):
        _operator(arguments)
    if arguments.part in ("all", "rollout"):
        _rollout()


def _clusters(arguments: argparse.Namespace) -> None:
    with _started() as plane, tempfile.TemporaryDirectory() as scratch:
        print(f"Kubernetes {plane.kubernetes.release}, Python {platform.python_version()}, {os.cpu_count()} processors")
        make_room(plane)
        create(plane, "four", 4)
        create(plane, "twenty", 20)
        create(plane, "large", 20, common=500 * 1024)
        for core in _cores():
            _compare(core, plane, Path(scratch), arguments.rounds)


def _started() -> AbstractContextManager[ControlPlane]:
    return control_plane(os.environ.get("KUBERNETES", "1.34"), CRDS)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="number of measurements, of which the median is taken")
    parser.add_argument("--clusters", type=int, help="number of clusters in the parts scale and operator")
    parser.add_argument("--base", help="in the part operator: the commit that this one is compared with")
    parser.add_argument("--supervisors", type=int, default=200, help="number of supervisors")
    parser.add_argument("--part", choices=["all", *PARTS], default="all")
    return parser.parse_args()


def _cores() -> Sequence[Core]:
    return tuple(
        Core(version, Path(os.environ[f"DRUIDOPS_CORE_{suffix}"], "bin"), os.environ[f"DRUIDOPS_KUBERNETES_CORE_{age}"])
        for version, suffix, age in (("2.18", "2_18", "OLDEST"), ("2.19", "2_19", "NEWEST"))
    )


def _compare(core: Core, plane: ControlPlane, scratch: Path, rounds: int) -> None:
    print(f"\nansible-core {core.version}, median of {rounds}, in turn", flush=True)
    cost = alternate(_programs(core, plane, scratch), rounds)
    _table([(name, found) for name, found in cost.items() if name != BARE])
    for measure in ("wall", "cpu"):
        _verdicts({name: getattr(found, measure) for name, found in cost.items()}, measure)


def _verdicts(cost: Mapping[str, float], measure: str) -> None:
    """Report for each target whether it is met by wall-clock time, and by CPU time, which other load distorts less."""
    print(f"  by {'wall-clock time' if measure == 'wall' else 'CPU time'}:")
    imported = cost[IMPORT] - cost[BARE]
    print(f"  import kubernetes.config alone: {imported:.2f} s")
    bound = cost[EMPTY] + imported + 0.2
    verdict("a no-op costs at most the empty play, the import and 0.2 s", cost[FOUR], bound)
    verdict("a no-op costs at most a quarter of kubernetes.core.k8s", cost[FOUR], cost[STOCK] / 4)
    verdict("20 groups cost at most 1.5 times what 4 groups cost", cost[TWENTY], 1.5 * cost[FOUR])
    verdict("500 KiB of common files cost at most 0.3 s", cost[LARGE], cost[TWENTY] + 0.3)


def _programs(core: Core, plane: ControlPlane, scratch: Path) -> list[Program]:
    environment = _environment(core, plane, scratch)
    (scratch / "empty.json").write_text(EMPTY_PLAY)
    (scratch / "stock.json").write_text(stock_playbook("four", 4))
    playbook, python = str(core.programs / "ansible-playbook"), str(core.programs / "python")
    return [
        Program(EMPTY, [playbook, str(scratch / "empty.json")], environment),
        Program(BARE, [python, "-c", "pass"], environment),
        Program(IMPORT, [python, "-c", "import kubernetes.config"], environment),
        _pass(core, plane, scratch, FOUR, "four"),
        _pass(core, plane, scratch, TWENTY, "twenty"),
        _pass(core, plane, scratch, LARGE, "large"),
        Program(STOCK, [playbook, str(scratch / "stock.json")], environment),
    ]


def _pass(
    core: Core,
    plane: ControlPlane,
    scratch: Path,
    title: str,
    name: str,
    kind: str = "cluster",
    namespace: str = NAMESPACE,
) -> Program:
    variables = ["-e", f"druid_{kind}_name={name}", "-e", f"druid_{kind}_namespace={namespace}"]
    return _play(core, plane, scratch, title, f"druidops.druid.{kind}", *variables)


def _play(core: Core, plane: ControlPlane, scratch: Path, title: str, playbook: str, *options: str) -> Program:
    """Return the run of a playbook that changes nothing."""
    command = [str(core.programs / "ansible-playbook"), playbook, *options]
    return Program(title, command, _environment(core, plane, scratch), lambda output: "changed=0 " in output)


def _environment(core: Core, plane: ControlPlane | None, scratch: Path) -> dict[str, str]:
    """Return the environment of a user: with cached bytecode, and without the project's own settings."""
    return {
        "PATH": f"{core.programs}:/usr/bin:/bin",
        "HOME": str(scratch),
        "LC_ALL": "C.UTF-8",
        "ANSIBLE_COLLECTIONS_PATH": f"{os.environ['DRUIDOPS_INSTALLED']}:{core.kubernetes_core}",
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        "ANSIBLE_NOCOWS": "true",
        **({"K8S_AUTH_KUBECONFIG": str(plane.kubeconfig(USER))} if plane else {}),
    }


def _supervisors(core: Core, rounds: int, count: int) -> None:
    """Compare the ways to manage supervisors that are in the desired state."""
    with tempfile.TemporaryDirectory() as scratch, Druid.start(Path(scratch, "druid"), kafka=False) as druid:
        print(f"\n{count} supervisors in the desired state, Druid {druid.version}, ansible-core {core.version}")
        desired = supervisors.specs(count)
        supervisors.create(druid, desired)
        written = supervisors.playbooks(Path(scratch), druid.url, desired)
        titles = {KEPT: "module", LOOPED: "loop", BY_HAND: "uri"}
        environment = _environment(core, None, Path(scratch))
        programs = [
            Program(
                title,
                [str(core.programs / "ansible-playbook"), str(written[name])],
                environment,
                lambda output: "changed=0 " in output,
            )
            for title, name in titles.items()
        ]
        cost = alternate(programs, rounds)
    _table(list(cost.items()))
    verdict("one task takes at most a tenth of the time of uri", cost[KEPT].wall, cost[BY_HAND].wall / 10)


def _ingestions(core: Core, rounds: int) -> None:
    """Compare reconciles of ingestions in the desired state with the reconcile of such a cluster."""
    many = [f"many{number}" for number in range(MANY)]
    with (
        _started() as plane,
        tempfile.TemporaryDirectory() as directory,
        Druid.start(Path(directory, "druid"), kafka=False) as druid,
    ):
        scratch = Path(directory)
        print(f"\nIngestions in the desired state, Druid {druid.version}, ansible-core {core.version}", flush=True)
        make_room(plane)
        create(plane, "four", 4)
        ingestions.create(plane, druid, "bench-alone", ["alone"])
        ingestions.create(plane, druid, "bench-many", many)
        together = ingestions.playbook(scratch / "ingestions.json", "bench-many", many)
        cost = alternate(
            [
                _pass(core, plane, scratch, FOUR, "four"),
                _pass(core, plane, scratch, INGESTION, "alone", "ingestion", "bench-alone"),
                _pass(core, plane, scratch, INGESTION_AMONG, many[0], "ingestion", "bench-many"),
                _play(core, plane, scratch, INGESTIONS, together),
            ],
            rounds,
        )
    _table(list(cost.items()))
    for measure in ("wall", "cpu"):
        took = {name: getattr(found, measure) for name, found in cost.items()}
        print(f"  by {'wall-clock time' if measure == 'wall' else 'CPU time'}:")
        verdict("an ingestion costs at most a tenth more than a cluster", took[INGESTION], 1.1 * took[FOUR])
        verdict("among 100 it costs at most a tenth more", took[INGESTION_AMONG], 1.1 * took[INGESTION])
        verdict("100 cost at most a quarter of 100 reconciles of a cluster", took[INGESTIONS], MANY / 4 * took[FOUR])


def _operator(arguments: argparse.Namespace) -> None:
    """Compare the operator with that of another commit."""
    with _started() as plane, tempfile.TemporaryDirectory() as scratch:
        make_room(plane)
        clusters = arguments.clusters or operator.CLUSTERS
        operator.compare(plane, Path(scratch), arguments.rounds, clusters, arguments.base)


def _rollout() -> None:
    """Measure a rollout by the operator."""
    with _started() as plane, tempfile.TemporaryDirectory() as scratch:
        make_room(plane)
        rollouts.measure(plane, Path(scratch))


def _scale(core: Core, rounds: int, clusters: int) -> None:
    """Compare a reconcile of a cluster that has its own control plane with one of a cluster among many.

    Both control planes run all the time, so that their load affects both reconciles.
    """
    print(f"\nOne reconcile of a cluster, alone and among {clusters}, ansible-core {core.version}", flush=True)
    with _started() as quiet, _started() as crowded, tempfile.TemporaryDirectory() as scratch:
        for plane in (quiet, crowded):
            make_room(plane)
            create(plane, "one", 5)
        for number in range(1, clusters):
            create(crowded, f"other{number}", 5, wait=False)
            if number % 10 == 0:
                print(f"  created {number} clusters", file=sys.stderr, flush=True)
        create(crowded, "one", 5)
        marks = [plane.audit.mark() for plane in (quiet, crowded)]
        passes = [
            _pass(core, plane, Path(scratch), title, "one") for plane, title in ((quiet, ALONE), (crowded, AMONG))
        ]
        cost = alternate(passes, rounds)
        asked = [len(plane.audit.since(mark, USER)) for plane, mark in zip((quiet, crowded), marks, strict=True)]
    _table(list(cost.items()))
    verdict("as many requests", asked[1] / (rounds + 1), asked[0] / (rounds + 1), unit="")
    verdict("as much time, and a tenth", cost[AMONG].wall, 1.1 * cost[ALONE].wall)


def _table(rows: Sequence[tuple[str, Cost]]) -> None:
    print("\n".join(_lines(rows)), flush=True)


def _lines(rows: Sequence[tuple[str, Cost]]) -> Iterator[str]:
    yield f"  {'':50} {'wall':>8} {'CPU':>8}"
    for name, cost in rows:
        yield f"  {name:50} {cost.wall:6.2f} s {cost.cpu:6.2f} s"


main()
