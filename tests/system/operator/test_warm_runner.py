# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resident process reconciles for our own playbooks; ansible-runner carries out every other run."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support import runner as runs
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.runner import Ended, Runner
from testbed.operator.descendants import descendants
from testbed.operator.resident import children, resident_process

FAIL: dict[str, Any] = {"name": "Fail", "ansible.builtin.fail": {"msg": "on purpose"}}
SHOW: dict[str, Any] = {"name": "Show", "ansible.builtin.debug": {"msg": "shown"}}
# What other playbooks may do, by name: their tasks.
CONTRACT: dict[str, list[dict[str, Any]]] = {
    "success": [SHOW],
    "failure": [SHOW, FAIL, SHOW],
    "module": [{"ansible.builtin.command": {"cmd": "echo run"}}],
}


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with runs.runner(tmp_path_factory.mktemp("runner")) as started:
        yield started


@pytest.mark.parametrize("case", CONTRACT)
def test_other_playbook_is_run_by_ansible_runner_itself(runner: Runner, case: str) -> None:
    playbook = runner.playbook(case.replace(" ", "_"), CONTRACT[case])
    other, reports = runner.run(playbook, is_warm=False), len(runner.reports)

    warm = runner.run(playbook)

    assert warm.seen == other.seen
    assert warm.kinds == other.kinds
    [reason] = runner.reports[reports:]
    assert reason == f"The run is one of ansible-runner: {playbook} is not a playbook of the collection."


def period(ended: Ended) -> str:
    """Return after which time the run is repeated."""
    [event] = [
        each for each in ended.events if each["event"] == "runner_on_ok" and "period" in each["event_data"]["res"]
    ]
    assert event["event_data"]["task_action"] == "requeue_after"
    return str(event["event_data"]["res"]["period"])


@pytest.mark.parametrize(
    ("name", "variables"),
    [("druid", {}), ("druid_ingestion", {}), ("druid_object", {"druidops_kind": "DruidLookup"}), ("collector", {})],
)
def test_own_playbook_is_reconciled_without_ansible(fresh: Runner, name: str, variables: dict[str, str]) -> None:
    playbook = fresh.collection / "playbooks" / f"operator_{name}.yml"
    # the API server cannot be reached
    other, warm = (fresh.run(playbook, is_warm=is_warm, variables=variables) for is_warm in (False, True))
    assert (warm.status, warm.artifacts["rc"], warm.artifacts["status"]) == (0, "0", "successful")
    assert warm.kinds == ["runner_on_ok"]
    assert warm.artifacts["stdout"].startswith("Reconciled without Ansible.")
    assert warm.artifacts.keys() == other.artifacts.keys()
    assert period(warm) == period(other)
    lines = [json.loads(line) for line in (fresh.directory / "log").read_text().splitlines()]
    assert [{**line, "time": "", "seconds": 0} for line in lines] == [{**lines[0], "time": "", "seconds": 0}] * 2


@pytest.mark.parametrize("virtualenv", ["DRUIDOPS_CORE_2_18", "DRUIDOPS_CORE_2_19"])
def test_reconciles_beside_each_ansible_core(live: NamespaceClient, tmp_path: Path, virtualenv: str) -> None:
    live.create(small_cluster.resource("c", small_cluster.spec(replicas=1)))
    with runs.runner(tmp_path, virtualenv, DRUIDOPS_KUBECONFIG=str(live.plane.kubeconfig())) as runner:
        playbook = runner.collection / "playbooks" / "operator_druid.yml"
        ended = runner.run(playbook, namespace=live.namespace, resource="c")
        assert (ended.status, ended.kinds, runner.reports) == (0, ["runner_on_ok"], [])
        assert command(runner.resident).startswith(os.fsencode(Path(os.environ[virtualenv], "bin", "python")))
    assert live.find("StatefulSet", "druid-c-brokers") is not None
    assert live.get("Druid", "c")["status"]["conditions"]


def test_whatever_is_not_ours_is_run_by_ansible_with_the_reason_in_the_log(fresh: Runner) -> None:
    playbook = fresh.collection / "playbooks" / "operator_druid.yml"
    assert fresh.run(playbook).kinds == ["runner_on_ok"]
    for changed, reason in (
        ({"variables": {"druidops_x": "y"}}, "it has other variables than the resource's name: druidops_x"),
        ({"ANSIBLE_NOCOLOR": "1"}, "ANSIBLE_NOCOLOR is set"),
    ):
        assert "playbook_on_stats" in fresh.run(playbook, **changed).kinds  # type: ignore[arg-type]
        assert fresh.reports[-1] == f"The run is one of ansible-runner: {reason}."
    fresh.environment["ANSIBLE_VERBOSITY_KIND_GROUP"] = "2"
    assert "ansible-playbook [core" in fresh.run(playbook, "-vvvv").output
    assert "its arguments are" in fresh.reports[-1]
    del fresh.environment["ANSIBLE_VERBOSITY_KIND_GROUP"]
    assert fresh.run(playbook, "-vvvv").kinds == ["runner_on_ok"]


def test_lost_event_is_no_success(fresh: Runner) -> None:
    started = fresh.start(fresh.collection / "playbooks" / "operator_druid.yml", variables={}, is_received=False)
    ended = started.end()
    assert (ended.status, ended.events) == (1, ())
    assert "was not sent to ansible-operator" in ended.artifacts["stdout"]


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Runner]:
    """A runner of the test's own."""
    with runs.runner(tmp_path) as started:
        yield started


def test_nothing_of_a_run_is_left_in_the_resident_process(fresh: Runner, tmp_path: Path) -> None:
    secret = f"secret-{os.getpid()}-{time.time()}"
    kubeconfig = tmp_path / "kubeconfig"
    user = {"name": "u", "user": {"token": secret.replace("secret", "se" + "cret")}}
    cluster = {"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}
    context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
    document = {"users": [user], "clusters": [cluster], "contexts": [context], "current-context": "c"}
    kubeconfig.write_text(json.dumps(document))
    playbook = fresh.collection / "playbooks" / "operator_druid.yml"
    fresh.run(playbook)
    resident = fresh.resident
    for _run in range(2):
        ended = fresh.run(playbook, DRUIDOPS_KUBECONFIG=str(kubeconfig))
        assert "127.0.0.1" in ended.artifacts["stdout"]
    # the environment of one run is not that of the next
    assert "127.0.0.1" not in fresh.run(playbook).artifacts["stdout"]
    assert fresh.resident == resident
    assert user["user"]["token"].encode() not in memory(resident)  # type: ignore[index]


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


# A task with processes of its own.
SLEEP: dict[str, Any] = {"name": "Sleep", "ansible.builtin.command": {"cmd": "sleep 600"}}


def paused(runner: Runner, task: dict[str, Any]) -> tuple[runs.Started, int, list[int]]:
    """Start a run that does not end; return it, its process, and all processes of its task."""
    started = runner.start(runner.playbook("pause", [task]))
    (process,) = eventually(lambda: children(runner.resident))
    # the task runs
    eventually(lambda: any(b"sleep\x00600" in command(each) for each in descendants(process)))
    return started, process, [each for each in descendants(process) if each != process]


@pytest.fixture
def silent() -> Iterator[str]:
    """The URL of an API server that accepts connections, and answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def hanging(runner: Runner, url: str) -> tuple[runs.Started, int]:
    """Start a run of our own playbook that waits for the API server; return it and its process."""
    started = runner.start(
        runner.collection / "playbooks" / "operator_druid.yml", K8S_AUTH_HOST=url, K8S_AUTH_API_KEY="x"
    )
    # it has begun, and kept its place among the artifacts
    eventually(started.artifacts.is_dir)
    (process,) = children(runner.resident)
    return started, process


def has_ended(pid: int) -> bool:
    """True unless the process runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_killed_run_has_failed(fresh: Runner, silent: str) -> None:
    started, process = hanging(fresh, silent)
    os.kill(process, signal.SIGKILL)
    ended = started.end()
    assert (ended.status, ended.artifacts["rc"], ended.artifacts["status"]) == (137, "137", "failed")
    assert ended.kinds == []
    assert "ansible-runner: the run was killed: signal 9" in ended.output


@pytest.mark.parametrize("killed", ["the run", "its client", "the resident process"])
def test_nothing_of_a_killed_run_goes_on(fresh: Runner, killed: str) -> None:
    started, process, tasks = paused(fresh, SLEEP)
    resident = fresh.resident
    victim = {"the run": process, "its client": started.process.pid, "the resident process": resident}[killed]
    os.kill(victim, signal.SIGKILL)
    ended = started.end()
    assert "playbook_on_stats" not in ended.kinds
    eventually(lambda: all(map(has_ended, [process, *tasks])))
    assert fresh.run(fresh.collection / "playbooks" / "operator_druid.yml").status == 0
    assert (fresh.resident != resident) == (killed == "the resident process")


def command(pid: int) -> bytes:
    """Return the command line of a process, empty if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def test_run_is_stopped_after_the_time_limit(tmp_path: Path, silent: str) -> None:
    with runs.runner(tmp_path, DRUIDOPS_RUN_TIMEOUT="2") as limited:
        started, process = hanging(limited, silent)
        # it could not even stop itself
        os.kill(process, signal.SIGSTOP)
        ended = started.end()
        assert (ended.status, ended.artifacts["rc"], ended.artifacts["status"]) == (254, "254", "timeout")


def test_finishes_what_runs_when_it_is_asked_to_end(fresh: Runner, tmp_path: Path) -> None:
    until = {"ansible.builtin.wait_for": {"path": str(tmp_path / "go"), "sleep": 1}}
    started = fresh.start(fresh.playbook("until", [until]))
    resident = fresh.resident
    eventually(lambda: children(resident))
    os.kill(resident, signal.SIGTERM)
    eventually(lambda: resident_process(fresh.resident_directory) is None)
    (tmp_path / "go").touch()
    assert started.end().status == 0
    eventually(lambda: has_ended(resident))


def test_runs_ansible_runner_without_a_resident_process(fresh: Runner) -> None:
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
    playbook = fresh.collection / "playbooks" / "operator_druid.yml"
    fresh.run(playbook)
    resident = fresh.resident
    os.kill(resident, signal.SIGSTOP)
    assert fresh.run(playbook).status == 0
    (reason,) = fresh.reports
    assert "the resident process did not answer within" in reason
    assert fresh.run(playbook).status == 0
    assert fresh.resident != resident
    assert fresh.reports == [reason]


def test_changed_files_take_effect(fresh: Runner) -> None:
    playbook = fresh.collection / "playbooks" / "operator_druid.yml"
    before = fresh.run(playbook)
    resident = fresh.resident
    changed = fresh.collection / "plugins" / "plugin_utils" / "_reconcile" / "conditions.py"
    changed.write_text(changed.read_text().replace("UNKNOWN_AGE_SECONDS = 30", "UNKNOWN_AGE_SECONDS = 31"))
    after = fresh.run(playbook)
    assert (period(before), period(after)) == ("30s", "31s")
    assert fresh.resident != resident
    assert fresh.reports == []
    playbook.write_text(f"{playbook.read_text()}# changed\n")
    assert "playbook_on_stats" in fresh.run(playbook).kinds
    assert fresh.reports == [
        "The run is one of ansible-runner: playbooks/operator_druid.yml is not that of the collection."
    ]


@pytest.mark.parametrize(
    "count", [pytest.param(40, id="some"), pytest.param(400, id="many", marks=campaign("forty runs"))]
)
def test_runs_leave_nothing_behind(fresh: Runner, tmp_path: Path, count: int) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    fresh.environment["TMPDIR"] = str(temporary)
    # with the exit status of each; the API server of the first ones cannot be reached
    own = [
        fresh.collection / "playbooks" / f"operator_{name}.yml" for name in ("druid", "druid_ingestion", "collector")
    ]
    playbooks = dict.fromkeys(own, 0)
    for playbook, _kept in itertools.product(playbooks, range(6)):
        fresh.run(playbook)
    resident = fresh.resident
    before = state(fresh, temporary)
    for playbook, status in itertools.islice(itertools.cycle(playbooks.items()), count):
        assert fresh.run(playbook).status == status
    assert fresh.resident == resident
    assert state(fresh, temporary) == before
    assert fresh.reports == []
    failing = fresh.playbook("failure", CONTRACT["failure"])
    for _kept in range(8):
        assert fresh.run(failing).status == 2
    after = state(fresh, temporary)
    assert {**after, "files": before["files"]} == before


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
    "count", [pytest.param(6, id="some"), pytest.param(30, id="many", marks=campaign("six kills"))]
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
        time.sleep(chance.random() * 2)
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
    expected = ("ended", "plugins/action/alone.py is not part of the collection")
    assert [reason for reason in fresh.reports if not any(each in reason for each in expected)] == []
