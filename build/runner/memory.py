# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory limit of a run, so that one that needs too much fails, and nothing else in the pod does."""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping, Sequence
from contextlib import suppress

MIB = 1 << 20
# What ansible-operator with its cache, the resident process and the clients may need.
OTHERS = 384 * MIB
LEAST = 64 * MIB
# What a process of ansible-runner has before it reconciles: Ansible, or Helm.
OF_ANSIBLE = 256 * MIB
# The flag of ansible-operator, and the variable with which `start` hands it on; that of a kind begins with it.
FLAG, WORKERS = "--max-concurrent-reconciles", "MAX_CONCURRENT_RECONCILES"
# Kinds with one run at a time, unless the variable of the kind has another number: a run of them is short.
OF_OBJECTS = ("DruidLookup", "DruidRole", "DruidUser")
KINDS = ("Druid", "DruidIngestion", "Collector", *OF_OBJECTS)
GROUP = "druid.apache.org"
# The limit of the container, with version 2 and 1 of cgroups.
_OF_CONTAINER = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def of_pod() -> int:
    """How many bytes the pod may need: its limit, or what the machine has."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in _OF_CONTAINER:
        with suppress(OSError, ValueError), open(file, encoding="ascii") as limit:
            found.append(int(limit.read()))
    return min(found)


def of_run(group: str) -> int:
    """How many bytes a run may need beside what the resident process has."""
    return share(of_pod(), all_workers(group, os.environ))


def share(pod: int, workers: int) -> int:
    """What is left of the pod for each of these workers."""
    return max(LEAST, (pod - OTHERS) // max(1, workers))


def workers(group: str, kind: str, environment: Mapping[str, str]) -> int:
    """How many runs of this kind ansible-operator has at the same time, by the variable of the kind and by the flag."""
    values = (environment.get(name, "") for name in (_variable(group, kind), WORKERS))
    return next((int(each) for each in values if each.isdecimal() and int(each)), _processors())


def _variable(group: str, kind: str) -> str:
    return f"{WORKERS}_{kind}_{group}".replace(".", "_").upper()


def of_start(flags: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of ansible-operator, which hands the numbers of its workers on to the runs."""
    of_objects = {_variable(GROUP, kind): "1" for kind in OF_OBJECTS}
    return {**of_objects, **environment, WORKERS: of_flag(flags)}


def all_workers(group: str, environment: Mapping[str, str]) -> int:
    """How many runs ansible-operator has at the same time: each kind has workers of its own."""
    return sum(workers(group, kind, environment) for kind in KINDS)


def of_flag(flags: Sequence[str]) -> str:
    """The value of the flag, of which ansible-operator uses the last one; its default without one."""
    found = str(_processors())
    for flag, after in zip(flags, (*flags, "")[1:], strict=True):
        name, equals, value = flag.partition("=")
        if name == FLAG:
            found = value if equals else after
    return found


def _processors() -> int:
    """The processors that this process may use, as Go counts them."""
    return len(os.sched_getaffinity(0))


def is_exhausted(error: Exception) -> bool:
    """Whether it is the error of a process that has reached its limit, also when it has started a thread."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and str(error) == "can't start new thread"
    )


def exceeded(share: int) -> str:
    """What has happened to a run that has needed more than its share."""
    return f"it needed more than {share // MIB} MiB of memory"


def limit(more: int) -> None:
    """Let this process, and those that it starts, need so many bytes more each; the soft limit only."""
    with open("/proc/self/status", encoding="ascii") as status:
        (data,) = (int(line.split()[1]) << 10 for line in status if line.startswith("VmData:"))
    _set(data + more)
    # if the memory of the pod is exhausted nevertheless, this process is killed and not ansible-operator
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write("1000")


def unlimit() -> None:
    """End the limit: the error has to be reported."""
    _set(resource.RLIM_INFINITY)


def _set(limited: int) -> None:
    _soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    allowed = limited if hard == resource.RLIM_INFINITY else min(limited, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed if limited != resource.RLIM_INFINITY else hard, hard))
