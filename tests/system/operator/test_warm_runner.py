# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resident process carries out runs as ansible-runner does, and nothing of a run is left in the next one."""

from __future__ import annotations

import itertools
import json
import os
import py_compile
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support import runner as runs
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.runner import Runner
from testbed.operator.descendants import descendants
from testbed.operator.resident import children, resident_process

FAIL: dict[str, Any] = {"name": "Fail", "ansible.builtin.fail": {"msg": "on purpose"}}
SHOW: dict[str, Any] = {"name": "Show", "ansible.builtin.debug": {"msg": "shown"}}
# A file of the collection that Ansible reads without a copy.
VARIABLES = """
- hosts: localhost
  gather_facts: false
  vars_files: [../roles/druid_cluster/defaults/main.yml]
  tasks: [{ansible.builtin.debug: {var: druid_cluster_wait}}]
"""
# What a run may do, by name: the tasks, or the text of the playbook.
CONTRACT: dict[str, Any] = {
    "success": [SHOW],
    "failure": [SHOW, FAIL, SHOW],
    "ignored failure": [{**FAIL, "ignore_errors": True}, SHOW],
    "rescued failure": [{"block": [FAIL], "rescue": [SHOW]}],
    "requeue": [{"requeue_after": {"seconds": 5}}],
    "loop": [{**SHOW, "loop": ["a", "b"]}],
    "hidden": [{**SHOW, "no_log": True}],
    "skipped": [{**SHOW, "when": False}, SHOW],
    "module": [{"ansible.builtin.command": {"cmd": "echo run"}}],
    "undefined variable": [{"ansible.builtin.debug": {"msg": "{{ missing }}"}}],
    "unknown action": [{"no_such_action": {}}],
    "syntax error": "- hosts: [",
    "variables of a file": VARIABLES,
}


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with runs.runner(tmp_path_factory.mktemp("runner")) as started:
        yield started


@pytest.mark.parametrize("case", CONTRACT)
def test_contract_is_that_of_ansible_runner(runner: Runner, case: str) -> None:
    playbook = runner.playbook(case.replace(" ", "_"), CONTRACT[case])
    ordinary = runner.run(playbook, is_warm=False)

    warm = runner.run(playbook)

    assert warm.seen == ordinary.seen
    assert runner.reports == []


def test_unreachable_api_server_is_reported_in_the_same_way(runner: Runner) -> None:
    playbook = runner.collection / "playbooks" / "operator_druid.yml"
    ordinary, warm = (runner.run(playbook, is_warm=is_warm) for is_warm in (False, True))
    assert warm.seen == ordinary.seen
    requested = [event for event in warm.events if event["event_data"].get("task_action") == "requeue_after"]
    assert [event["event_data"]["res"]["period"] for event in requested if event["event"] == "runner_on_ok"]


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Runner]:
    """A runner of the test's own."""
    with runs.runner(tmp_path) as started:
        yield started


def test_verbosity_of_the_administrator(fresh: Runner) -> None:
    playbook = fresh.playbook("verbose", [SHOW])
    fresh.environment["ANSIBLE_VERBOSITY_KIND_GROUP"] = "2"
    assert "ansible-playbook [core" in fresh.run(playbook, "-vvvv").output
    del fresh.environment["ANSIBLE_VERBOSITY_KIND_GROUP"]
    fresh.close()
    assert "ansible-playbook [core" not in fresh.run(playbook, "-vvvv").output


def test_playbook_of_others_is_run_by_ansible_runner_itself(runner: Runner, tmp_path: Path) -> None:
    playbook = tmp_path / "other.yml"
    playbook.write_text(runner.playbook("other", CONTRACT["rescued failure"]).read_text())
    ordinary, warm = (runner.run(playbook, is_warm=is_warm) for is_warm in (False, True))
    assert warm.seen == ordinary.seen
    assert warm.kinds == ordinary.kinds
    assert "playbook_on_play_start" in warm.kinds
    assert runner.reports == []


def test_other_options_are_those_of_ansible_runner(runner: Runner) -> None:
    playbook = runner.playbook("tagged", [{**SHOW, "tags": ["a"]}, {**FAIL, "tags": ["b"]}])
    ordinary, warm = (runner.run(playbook, "--cmdline", "--tags a", is_warm=is_warm) for is_warm in (False, True))
    assert warm.seen == ordinary.seen
    assert (warm.status, warm.kinds) == (0, ordinary.kinds)
    assert runner.reports == []


# What a run may leave in its own process: code, and what the next run looks for.
LEAVE = """
import gc, json, os, random, signal, socket, sys, tempfile, threading, time
from ansible import constants

SECRET = "{secret}"


def leave(value):
    constants.LEFT = SECRET
    constants.DEFAULT_FORKS = 77
    dumps = json.dumps
    json.dumps = lambda *arguments, **named: dumps(*arguments, **named)
    os.environ["LEFT"] = SECRET
    sys.modules["left"] = sys
    sys.path.insert(0, SECRET)
    os.umask(0)
    os.chdir("/proc")
    random.seed(1)
    tempfile.tempdir = "/left"
    signal.signal(signal.SIGUSR1, lambda *_: None)
    threading.Thread(target=time.sleep, args=(0.01,), daemon=True).start()
    globals()["kept"] = [socket.socketpair(), SECRET * 1000]
    return value


def look(value):
    files = len(os.listdir("/proc/self/fd"))
    found = [
        getattr(constants, "LEFT", None), constants.DEFAULT_FORKS, json.dumps.__name__, os.environ.get("LEFT"),
        "left" in sys.modules, SECRET in sys.path, os.umask(0o077), os.getcwd(), random.random() == 0.13436424411240122,
        tempfile.gettempdir(), signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL, threading.active_count(), files,
    ]
    with open({found!r}, "a") as file:
        file.write(repr(found) + chr(10))
    return value


class FilterModule:
    def filters(self):
        return dict(leave=leave, look=look)
"""


def test_nothing_of_a_run_is_left_in_the_next(fresh: Runner, tmp_path: Path) -> None:
    secret, found = f"secret-{os.getpid()}-{time.time()}", tmp_path / "found"
    plugins = fresh.collection / "plugins" / "filter"
    plugins.mkdir()
    (plugins / "left.py").write_text(
        LEAVE.format(secret=secret.replace("secret", "se{0}cret").format(""), found=str(found))
    )
    play = {"gather_facts": False, "tasks": [SHOW]}
    # the name of the play is evaluated in the process of the run, and not in one of a task
    leave, look = (
        fresh.playbook(name, json.dumps([{"hosts": f"{{{{ 'localhost' | druidops.druid.{name} }}}}", **play}]))
        for name in ("leave", "look")
    )
    assert fresh.run(look).status == 0
    resident = fresh.resident
    for _repeat in range(2):
        assert fresh.run(leave, variables={"druidops_secret": f"variable of {secret}"}).status == 0
        assert fresh.run(look).status == 0

    assert fresh.resident == resident
    assert fresh.reports == []
    # of the first run, and of those after one that leaves something
    assert len(set(found.read_text().splitlines())) == 1
    assert secret.encode() not in memory(resident)


KUBECONFIG = """
from kubernetes.config.kube_config import KUBE_CONFIG_DEFAULT_LOCATION


class FilterModule:
    def filters(self):
        return dict(kubeconfig=lambda _value: KUBE_CONFIG_DEFAULT_LOCATION)
"""


def test_default_kubeconfig_is_that_of_the_run(fresh: Runner) -> None:
    plugins = fresh.collection / "plugins" / "filter"
    plugins.mkdir()
    (plugins / "kubeconfig.py").write_text(KUBECONFIG)
    playbook = fresh.playbook("show", [{"ansible.builtin.debug": {"msg": "{{ '' | druidops.druid.kubeconfig }}"}}])
    for name in ("/first", "/second"):
        assert f'"msg": "{name}"' in fresh.run(playbook, KUBECONFIG=name).output
    assert fresh.reports == []


def memory(pid: int) -> bytes:
    """Return what the process has written to its memory."""
    found = []
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as contents:
        for line in maps:
            addresses, mode, *_rest = line.split()
            if mode.startswith("rw"):
                begin, end = (int(each, 16) for each in addresses.split("-"))
                contents.seek(begin)
                found.append(contents.read(end - begin))
    return b"".join(found)


PAUSE: dict[str, Any] = {"name": "Pause", "ansible.builtin.pause": {"seconds": 600}}
# A task with processes of its own.
SLEEP: dict[str, Any] = {"name": "Sleep", "ansible.builtin.command": {"cmd": "sleep 600"}}


def paused(runner: Runner, task: dict[str, Any]) -> tuple[runs.Started, int, list[int]]:
    """Start a run that does not end; return it, its process, and the processes of its task."""
    started = runner.start(runner.playbook("pause", [task]))
    process = process_of_run(runner)
    return started, process, eventually(lambda: children(process)) if task is SLEEP else []


def process_of_run(runner: Runner) -> int:
    """Return the process of the run as soon as the playbook runs; asking for the resident process forks, too."""
    resident = runner.resident
    (process,) = eventually(lambda: [each for each in children(resident) if directory_of(each).endswith("/project")])
    return process


def directory_of(pid: int) -> str:
    """Return the working directory of a process, empty if it has ended."""
    with suppress(OSError):
        return os.readlink(f"/proc/{pid}/cwd")
    return ""


def has_ended(pid: int) -> bool:
    """True unless the process runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_killed_run_has_failed_and_nothing_of_it_goes_on(fresh: Runner) -> None:
    started, process, tasks = paused(fresh, SLEEP)
    os.kill(process, signal.SIGKILL)
    ended = started.end()
    assert (ended.status, ended.artifacts["rc"], ended.artifacts["status"]) == (137, "137", "failed")
    assert ended.kinds[-1] == "playbook_on_task_start"
    assert "ansible-runner: the run was killed: signal 9" in ended.output
    eventually(lambda: all(map(has_ended, tasks)))
    assert fresh.run(fresh.playbook("next", [SHOW])).status == 0


def test_killed_run_is_reported_as_an_ordinary_one(fresh: Runner) -> None:
    started, process, _tasks = paused(fresh, SLEEP)
    os.kill(process, signal.SIGKILL)
    warm = started.end()
    started = fresh.start(fresh.playbook("pause", [SLEEP]), is_warm=False)
    (process,) = eventually(lambda: playbooks_of(started.process.pid))
    # the task runs
    eventually(lambda: any(b"sleep\x00600" in command(each) for each in descendants(process)))
    os.kill(process, signal.SIGKILL)
    ordinary = started.end()
    assert warm.artifacts["status"] == ordinary.artifacts["status"] == "failed"
    # ansible-operator acts on the events: the exit status of ansible-runner itself is 0
    assert [event["event"] for event in warm.events] == [event["event"] for event in ordinary.events]


def playbooks_of(runner: int) -> list[int]:
    """Return the ansible-playbook that ansible-runner has started."""
    return [each for each in children(runner) if b"ansible-playbook" in command(each)]


def command(pid: int) -> bytes:
    """Return the command line of a process, empty if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def test_run_ends_with_its_client(fresh: Runner) -> None:
    started, process, tasks = paused(fresh, SLEEP)
    resident = fresh.resident
    started.process.kill()
    started.end()
    eventually(lambda: all(map(has_ended, [process, *tasks])))
    eventually(lambda: children(resident) == [])


def test_runs_end_with_the_resident_process_and_the_next_starts_another(fresh: Runner) -> None:
    started, process, _tasks = paused(fresh, PAUSE)
    resident = fresh.resident
    os.kill(resident, signal.SIGKILL)
    ended = started.end()
    assert (ended.status, ended.artifacts["rc"]) == (1, "1")
    eventually(lambda: has_ended(process))
    assert fresh.run(fresh.playbook("next", [SHOW])).status == 0
    assert fresh.resident != resident
    assert fresh.reports == []


def test_run_is_stopped_after_the_time_limit(tmp_path: Path) -> None:
    with runs.runner(tmp_path, DRUIDOPS_RUN_TIMEOUT="2") as limited:
        started, process, tasks = paused(limited, SLEEP)
        # it could not even stop itself
        os.kill(process, signal.SIGSTOP)
        ended = started.end()
        assert (ended.status, ended.artifacts["rc"], ended.artifacts["status"]) == (254, "254", "timeout")
        eventually(lambda: all(map(has_ended, tasks)))
        ordinary = limited.run(limited.playbook("pause", [PAUSE]), is_warm=False)
        assert (ordinary.status, ordinary.artifacts["rc"], ordinary.artifacts["status"]) == (254, "254", "timeout")


def test_finishes_what_runs_when_it_is_asked_to_end(fresh: Runner, tmp_path: Path) -> None:
    until = {"ansible.builtin.wait_for": {"path": str(tmp_path / "go"), "sleep": 1}}
    started = fresh.start(fresh.playbook("until", [until]))
    process_of_run(fresh)
    resident = fresh.resident
    os.kill(resident, signal.SIGTERM)
    eventually(lambda: resident_process(fresh.resident_directory) is None)
    (tmp_path / "go").touch()
    assert started.end().status == 0
    eventually(lambda: has_ended(resident))


def test_another_environment_is_run_in_the_ordinary_way(fresh: Runner) -> None:
    playbook = fresh.playbook("show", [SHOW])
    fresh.run(playbook)
    assert fresh.run(playbook, ANSIBLE_NOCOLOR="1").status == 0
    (reason,) = fresh.reports
    assert reason.endswith("the environment differs from that of the resident process: ANSIBLE_NOCOLOR.")


def test_resident_process_of_another_environment_is_replaced(fresh: Runner) -> None:
    playbook = fresh.playbook("show", [SHOW])
    fresh.run(playbook, ANSIBLE_NOCOLOR="1")
    other = fresh.resident
    for _ordinary in range(3):
        assert fresh.run(playbook).status == 0
    reports = fresh.reports
    assert len(reports) == 3
    for _warm in range(2):
        assert fresh.run(playbook).status == 0
    assert fresh.resident != other
    assert fresh.reports == reports


def test_ordinary_runs_without_a_resident_process(fresh: Runner) -> None:
    playbook = fresh.playbook("show", [SHOW])
    (fresh.collection / "plugins" / "plugin_utils" / "_cluster" / "spec.py").write_text(
        "raise ValueError('on purpose')"
    )
    for _repeat in range(2):
        assert fresh.run(playbook).status == 0
    assert [reason.rpartition(": ")[2] for reason in fresh.reports] == ["on purpose."] * 2
    assert resident_process(fresh.resident_directory) is None


def test_directory_of_others_is_not_used(fresh: Runner) -> None:
    fresh.resident_directory.mkdir(mode=0o755)
    assert fresh.run(fresh.playbook("show", [SHOW])).status == 0
    (reason,) = fresh.reports
    assert reason.endswith("is not only this user's.")


def test_hanging_resident_process_is_killed(fresh: Runner) -> None:
    playbook = fresh.playbook("show", [SHOW])
    fresh.run(playbook)
    resident = fresh.resident
    os.kill(resident, signal.SIGSTOP)
    assert fresh.run(playbook).status == 0
    (reason,) = fresh.reports
    assert "it did not answer within" in reason
    assert fresh.run(playbook).status == 0
    assert fresh.resident != resident
    assert fresh.reports == [reason]


def test_changed_files_take_effect(fresh: Runner) -> None:
    playbook = fresh.playbook("requeue", CONTRACT["requeue"])
    fresh.run(playbook)
    resident = fresh.resident
    plugin = fresh.collection / "plugins" / "action" / "requeue_after.py"
    plugin.write_text(plugin.read_text().replace("['seconds']}s", "['seconds']}m"))
    assert "5m" in fresh.run(playbook).output
    assert fresh.resident != resident
    assert fresh.reports == []


def test_bytecode_of_another_source_is_refused(fresh: Runner) -> None:
    playbook = fresh.playbook("requeue", CONTRACT["requeue"])
    plugin = fresh.collection / "plugins" / "plugin_utils" / "_cluster" / "names.py"
    py_compile.compile(str(plugin), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH, doraise=True)
    assert fresh.run(playbook).status == 0
    plugin.write_text(f"{plugin.read_text()}# changed\n")
    ended = fresh.run(playbook)
    assert ended.status == 1
    assert f"{plugin} has changed after its bytecode was compiled; compile it: python3 -m compileall" in ended.output
    assert ended.events == ()
    assert fresh.reports == []


@pytest.mark.parametrize(
    "count", [pytest.param(40, id="some"), pytest.param(1000, id="many", marks=campaign("Forty runs."))]
)
def test_runs_leave_nothing_behind(fresh: Runner, tmp_path: Path, count: int) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    fresh.environment["TMPDIR"] = str(temporary)
    other = tmp_path / "other.yml"
    other.write_text(fresh.playbook("success", CONTRACT["success"]).read_text())
    # with the exit status of each
    playbooks = {
        fresh.playbook("requeue", CONTRACT["requeue"]): 0,
        fresh.playbook("failure", CONTRACT["failure"]): 2,
        # its API server cannot be reached
        fresh.collection / "playbooks" / "operator_druid.yml": 0,
        other: 0,
    }
    for playbook, _kept in itertools.product(playbooks, range(6)):
        fresh.run(playbook)
    resident = fresh.resident
    before = state(fresh, temporary)
    for playbook, status in itertools.islice(itertools.cycle(playbooks.items()), count):
        assert fresh.run(playbook).status == status
    assert fresh.resident == resident
    assert state(fresh, temporary) == before
    assert fresh.reports == []


# Standard input, output and error, the listener, and the two ends of the socket of signals.
OPEN_FILES = 6


def state(runner: Runner, temporary: Path) -> dict[str, Any]:
    """Return what has to be the same after any number of runs."""
    resident = runner.resident
    # the client of the last run may have ended before its connection is closed
    eventually(lambda: len(os.listdir(f"/proc/{resident}/fd")) == OPEN_FILES)
    status = dict(line.split(":", 1) for line in Path(f"/proc/{resident}/status").read_text().splitlines())
    return {
        "data": status["VmData"].strip(),
        "threads": status["Threads"].strip(),
        "processes": children(resident),
        "runs": len([*runner.directory.glob("group/*/*/*/*/artifacts/*")]),
        "files": sorted(str(each) for each in temporary.rglob("*")),
        "own files": sorted(each.name for each in runner.resident_directory.iterdir()),
    }


# An action that notices if another one of the same resource runs.
ALONE = """
import fcntl, time
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        with open(self._task.args["record"], "a", buffering=1) as record, open(self._task.args["lock"], "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                record.write("overlap\\n")
            record.write("begin\\n")
            time.sleep(0.1)
            record.write("end\\n")
        return dict(changed=False)
"""


def resident_of(runner: Runner) -> list[int]:
    """Return the resident process, if there is one."""
    found = resident_process(runner.resident_directory)
    return [found] if found else []


@pytest.mark.parametrize(
    "count", [pytest.param(15, id="some"), pytest.param(200, id="many", marks=campaign("Fifteen kills."))]
)
def test_no_two_runs_of_a_resource_at_once_whatever_is_killed(fresh: Runner, tmp_path: Path, count: int) -> None:
    chance = random.Random(os.environ.get("DRUIDOPS_SEED") or 1)
    for part, text in (("action", ALONE), ("modules", "")):
        (fresh.collection / "plugins" / part / "alone.py").write_text(text)
    record = tmp_path / "record"
    task = {"druidops.druid.alone": {"record": str(record), "lock": str(tmp_path / "alone")}}
    playbook = fresh.playbook("alone", [task])
    fresh.run(playbook)
    for _kill in range(count):
        started = fresh.start(playbook)
        victims: list[Callable[[], list[int]]] = [
            lambda process=started.process: [process.pid],  # type: ignore[misc]
            lambda: resident_of(fresh),
            lambda: [run for each in resident_of(fresh) for run in children(each)],
        ]
        victim = chance.choice(victims)
        time.sleep(chance.random() * 0.3)
        for each in victim():
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        started.end()
        # one that was killed while it started is not started again for a minute
        (fresh.resident_directory / "failed").unlink(missing_ok=True)

    assert fresh.run(playbook).status == 0
    lines = record.read_text().splitlines()
    assert "overlap" not in lines
    assert lines[-2:] == ["begin", "end"]
    resident = fresh.resident
    eventually(lambda: children(resident) == [])
    assert all("ended" in reason for reason in fresh.reports)
