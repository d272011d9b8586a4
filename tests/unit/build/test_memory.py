# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How much memory a run may need, and what happens to one that needs more."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from ansible_collections.druidops.druid.build.runner import memory

COLLECTION = Path(__file__).parents[3]
MIB = memory.MIB
ALLOCATE = """
import sys

sys.path.insert(0, sys.argv[1])
from build.runner import memory

memory.limit(int(sys.argv[2]))
try:
    kept = [bytearray(1 << 20) for _ in range(int(sys.argv[3]))]
except MemoryError:
    print("too much")
memory.unlimit()
kept = [bytearray(1 << 20) for _ in range(int(sys.argv[3]))]
"""


@pytest.mark.parametrize(
    ("pod", "workers", "expected"),
    [
        (1408, 15, 68),
        (1024, 4, 160),
        (1024, 1, 640),
        (2048, 15, 110),
        # the least
        (1024, 12, 64),
        (256, 4, 64),
    ],
)
def test_share_is_what_the_others_do_not_need(pod: int, workers: int, expected: int) -> None:
    assert memory.share(pod * MIB, workers) // MIB == expected


GROUP = "druid.apache.org"


@pytest.mark.parametrize(
    ("environment", "expected", "of_all"),
    [
        ({"MAX_CONCURRENT_RECONCILES": "4"}, 4, 15),
        ({"MAX_CONCURRENT_RECONCILES": "4", "MAX_CONCURRENT_RECONCILES_DRUID_DRUID_APACHE_ORG": "2"}, 2, 13),
        # ansible-operator ignores these as well
        ({"MAX_CONCURRENT_RECONCILES": "4", "MAX_CONCURRENT_RECONCILES_DRUID_DRUID_APACHE_ORG": "0"}, 4, 15),
        ({"MAX_CONCURRENT_RECONCILES": "4", "MAX_CONCURRENT_RECONCILES_DRUID_DRUID_APACHE_ORG": "x"}, 4, 15),
        ({"MAX_CONCURRENT_RECONCILES": "4", "MAX_CONCURRENT_RECONCILES_DRUIDLOOKUP_DRUID_APACHE_ORG": "3"}, 4, 17),
    ],
)
def test_each_kind_has_workers(environment: dict[str, str], expected: int, of_all: int) -> None:
    started = memory.of_start([f"--max-concurrent-reconciles={environment['MAX_CONCURRENT_RECONCILES']}"], environment)
    assert memory.workers(GROUP, "Druid", started) == expected
    assert memory.all_workers(GROUP, started) == of_all


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["run", "--max-concurrent-reconciles=3"], "3"),
        (["run", "--max-concurrent-reconciles", "3", "--leader-elect"], "3"),
        (["--max-concurrent-reconciles=3", "--max-concurrent-reconciles=5"], "5"),
        ([], str(len(os.sched_getaffinity(0)))),
        (["run"], str(len(os.sched_getaffinity(0)))),
    ],
)
def test_workers_are_those_of_the_flag(flags: list[str], expected: str) -> None:
    assert memory.of_flag(flags) == expected


def of_deployment() -> tuple[str, str]:
    """Return the workers and the memory limit in config/manager."""
    _namespace, deployment = yaml.safe_load_all((COLLECTION / "config/manager/manager.yaml").read_text())
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    variables = {each["name"]: each.get("value", "") for each in container["env"]}
    return variables[memory.WORKERS], container["resources"]["limits"]["memory"]


def of_chart() -> tuple[str, str]:
    """Return the workers and the memory limit of the chart's values."""
    values = yaml.safe_load((COLLECTION / "charts/druid-operator/values.yaml").read_text())
    return values["env"][memory.WORKERS], values["resources"]["limits"]["memory"]


@pytest.mark.parametrize("of_default", [of_deployment, of_chart])
def test_runs_of_all_workers_fit_into_the_default_limit(of_default: Callable[[], tuple[str, str]]) -> None:
    workers, limit = of_default()
    pod, runs = (
        int(limit.removesuffix("Mi")) * MIB,
        memory.all_workers(GROUP, memory.of_start([f"{memory.FLAG}={workers}"], {})),
    )
    assert memory.LEAST <= memory.share(pod, runs) <= (pod - memory.OTHERS) / runs
    documented = (COLLECTION / "docs/installing-the-operator.md").read_text()
    assert f"The memory limit of {pod // MIB} MiB" in documented
    assert f"with up to {memory.share(pod, runs) // MIB} MiB each" in documented


THREAD = """
import sys, threading

sys.path.insert(0, sys.argv[1])
from build.runner import memory

threading.stack_size(64 << 20)
memory.limit(16 << 20)
try:
    threading.Timer(0, print).start()
except Exception as error:
    print(memory.is_exhausted(error))
"""


def test_thread_that_cannot_start_needs_too_much() -> None:
    done = subprocess.run([sys.executable, "-c", THREAD, COLLECTION], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")


@pytest.mark.parametrize("error", [RuntimeError("generator raised StopIteration"), RecursionError(), OSError(12, "x")])
def test_any_other_error_is_none_of_memory(error: Exception) -> None:
    assert not memory.is_exhausted(error)


@pytest.mark.parametrize(("needed", "printed"), [(10, ""), (100, "too much\n")])
def test_process_that_needs_more_gets_an_error(needed: int, printed: str) -> None:
    command = [sys.executable, "-c", ALLOCATE, COLLECTION, str(50 * MIB), str(needed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == (printed, "", 0)


def test_pod_has_no_more_than_the_machine() -> None:
    assert 0 < memory.of_pod() < 1 << 50
