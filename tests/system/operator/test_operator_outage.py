# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API server is away for half a minute: what was under way is finished, and what has happened is not missed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.druid_operator import DruidOperator, election, start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.operator_account import Account, account
from ansible_collections.druidops.druid.tests.system.support.operator_writes import creations, repeated, written
from testbed.control_plane import ControlPlane
from testbed.control_plane import control_plane as new_control_plane
from testbed.operator.started import Operator
from testbed.operator_plugin import StartOperator
from testbed.processes import ProcessError
from testbed.pytest_plugin import crds, kubernetes, new_namespace

# all on the same control plane, which takes its time to start
pytestmark = [
    pytest.mark.xdist_group("operator-outage"),
    campaign(
        "the operator is cut off from the API server, and what happens then is not missed; the leader is replaced"
    ),
]

SECONDS = 30
CHANGING, IDLE = "changing", "idle"
BROKERS = f"druid-{CHANGING}-brokers"


@pytest.fixture(scope="module")
def control_plane() -> Iterator[ControlPlane]:
    """A control plane that can be harmed, and on which an operator may watch all namespaces."""
    with new_control_plane(kubernetes(), crds()) as plane:
        yield plane


@pytest.fixture
def two(control_plane: ControlPlane) -> Iterator[list[NamespaceClient]]:
    """Two new namespaces."""
    with ExitStack() as stack:
        yield [NamespaceClient(control_plane, stack.enter_context(new_namespace(control_plane))) for _each in range(2)]


class Kubelet:
    """Starts the operator again when it has ended, as the kubelet does with a container."""

    def __init__(self, program: Operator) -> None:
        self._program = program
        self.restarts = 0

    def restart_if_ended(self) -> None:
        """Check that it still runs."""
        if self._program.pid is None:
            self.restarts += 1
            # it may end again before it is ready
            with suppress(ProcessError):
                self._program.start()

    def until(self, condition: Callable[[], Any]) -> None:
        """Poll until the condition is true."""

        def checked() -> Any:
            self.restart_if_ended()
            return condition()

        eventually(checked)


def test_the_api_server_is_killed_in_the_middle_of_an_update(
    operator: StartOperator, two: list[NamespaceClient], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """The operator watches all namespaces; it loses its lease, so that it ends, and is started again."""
    changing, idle = two
    log, login = tmp_path / "log", account(changing.plane, changing.namespace, tmp_path)
    flags = election(changing.namespace)
    started = start(operator, changing, tmp_path, login=login, namespaces=[], flags=flags, DRUIDOPS_LOG=str(log))
    changing.create(small_cluster.resource(CHANGING, small_cluster.spec(1, replicas=1)))
    idle.create(small_cluster.resource(IDLE, small_cluster.spec(1, replicas=1)))
    for live, name in ((changing, CHANGING), (idle, IDLE)):
        started.seen_from(live).wait_until_settled(name)
    before = uids(changing)
    kubelet, mark = Kubelet(started.program), changing.mark()

    changing.merge("Druid", CHANGING, {"spec": small_cluster.spec(2, replicas=1)})
    eventually(lambda: started.is_writing(mark))
    with changing.plane.without_api_server():
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            kubelet.restart_if_ended()
            time.sleep(0.1)

    kubelet.until(lambda: is_up_to_date(changing, CHANGING))
    started.wait_until_settled(CHANGING)
    record_property(
        "measurement", f"API server killed for {SECONDS} s: operator started again {kubelet.restarts} times"
    )
    assert kubelet.restarts > 0
    assert repeated(creations(started.events(mark))) == {}
    assert written(started.seen_from(idle).events(mark)) == {}
    assert uids(changing) == before

    idle.delete("Service", f"druid-{IDLE}-historicals-1")
    eventually(lambda: idle.find("Service", f"druid-{IDLE}-historicals-1"))
    assert_problem_is_logged(log, login, started)


def test_the_api_server_hangs_in_the_middle_of_an_update(
    operator: StartOperator, live: NamespaceClient, tmp_path: Path
) -> None:
    started = start(operator, live, tmp_path)
    live.create(small_cluster.resource(CHANGING, small_cluster.spec(1, replicas=1)))
    started.wait_until_settled(CHANGING)
    before, mark = uids(live), live.mark()

    live.merge("Druid", CHANGING, {"spec": small_cluster.spec(2, replicas=1)})
    eventually(lambda: started.is_writing(mark))
    with live.plane.with_hung_api_server():
        time.sleep(SECONDS)

    eventually(lambda: is_up_to_date(live, CHANGING), otherwise=lambda: started.diagnostics(CHANGING))
    started.wait_until_settled(CHANGING)
    assert repeated(creations(started.events(mark))) == {}
    assert uids(live) == before


def is_up_to_date(live: NamespaceClient, name: str) -> bool:
    """True if the specified objects exist and are ready."""
    resource = live.get("Druid", name)
    conditions = {each["type"]: each for each in resource["status"]["conditions"]}
    ready = conditions["Ready"]
    return (ready["status"], ready["observedGeneration"]) == ("True", resource["metadata"]["generation"])


def uids(live: NamespaceClient) -> dict[tuple[str, str], str]:
    """Return the identities of the PVCs, and of the workload that an update keeps."""
    found = {("PersistentVolumeClaim", each["metadata"]["name"]): each for each in live.list("PersistentVolumeClaim")}
    found["StatefulSet", BROKERS] = live.get("StatefulSet", BROKERS)
    return {name: each["metadata"]["uid"] for name, each in found.items()}


def assert_problem_is_logged(log: Path, login: Account, started: DruidOperator) -> None:
    """A log line reports the problem; the token of the account is in none, nor in the operator's output."""
    text = log.read_text(encoding="utf-8")
    errors = [line for line in map(json.loads, text.splitlines()) if line["level"] == "error"]
    assert [line for line in errors if line["name"] == CHANGING and "did not respond" in line["message"]]
    token = json.loads(login.kubeconfig.read_text(encoding="utf-8"))["users"][0]["user"]["token"]
    assert token not in text
    assert token not in started.program.log
