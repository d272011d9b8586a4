# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A hanging run is stopped: it blocks neither its resource nor a worker of the operator indefinitely."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.druid_operator import start
from ansible_collections.druidops.druid.tests.system.support.fault_proxy import FaultProxy
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.operator_account import account
from testbed.operator.descendants import descendants
from testbed.operator.resident import children, resident_process
from testbed.operator.started import Operator
from testbed.operator_plugin import StartOperator

NAME = "c"
SECONDS = 15
# a request in the middle of a creation
POSITION = 10


def test_hanging_run_is_stopped_and_repeated(
    operator: StartOperator, live: NamespaceClient, proxy: FaultProxy, tmp_path: Path
) -> None:
    login = account(live.plane, live.namespace, tmp_path)
    started = start(
        operator, live, tmp_path, login=login, direct=login.through(proxy.url), DRUIDOPS_RUN_TIMEOUT=str(SECONDS)
    )
    stopped: list[int] = []
    proxy.expect(POSITION, meanwhile=lambda: stopped.extend(stop_playbooks(started.program)))

    live.create(small_cluster.resource(NAME))

    started.wait_until_settled(NAME)
    assert stopped
    hung, *later = started.program.runs_of(NAME)
    assert hung.status != 0
    assert hung.end is not None
    assert hung.end - hung.begin >= SECONDS
    assert all(run.status == 0 for run in later if run.end)
    assert not [each for each in stopped if Path(f"/proc/{each}").exists()]


def stop_playbooks(program: Operator) -> list[int]:
    """Let the processes of a playbook go no further, as if they waited for each other; return them."""
    assert program.pid is not None
    found = [each for each in descendants(program.pid) if b"ansible-playbook" in command(each)]
    if resident := program.resident and resident_process(program.resident):
        found += [each for run in children(resident) for each in (run, *children(run))]
    return [each for each in found if _is_stopped(each)]


def _is_stopped(pid: int) -> bool:
    """Stop the process; False if it has ended already."""
    try:
        os.kill(pid, signal.SIGSTOP)
    except ProcessLookupError:
        return False
    return True


def command(pid: int) -> bytes:
    """Return what the process was started as; the runner's arguments have no such word in them."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        # it has ended already
        return b""
