# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A supervisor is stopped only after it knows its tasks, within a time limit."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound, ServerError, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import (
    SUPERVISORS,
    reset_before_resuming,
    terminate,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_start import (
    SupervisorStarts,
    wait_until_started,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NotConnected, UncertainState
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import FakeTime

STATUS, TERMINATE = "/druid/indexer/v1/supervisor/s/status", "/druid/indexer/v1/supervisor/s/terminate"
MISSING = NotFound(404, "", "GET", STATUS)
BUSY = ServerError(503, "", "POST", TERMINATE)
BROKEN = ServerError(500, "", "POST", TERMINATE)
UNREACHABLE = Unreachable("POST", TERMINATE, "refused", is_transient=True)


class Druid:
    """A client that gets these responses: states of a supervisor, or errors; and then those to POST requests."""

    def __init__(self, states: list[Any], posted: list[Any] | None = None, retries_enabled: bool = True) -> None:
        self.retries_enabled = retries_enabled
        self.answers = {"GET": states, "POST": posted or [None]}
        self.sent: list[str] = []
        # what the list still has
        self.left: list[str] = []

    def get(self, path: str) -> Any:
        if path == SUPERVISORS:
            return self.left
        state = self._answer("GET", path)
        return {"id": "s", "payload": state if isinstance(state, dict) else {"detailedState": state}}

    def post(self, path: str) -> Any:
        return self._answer("POST", path)

    def _answer(self, method: str, path: str) -> Any:
        self.sent.append(f"{method} {path.rpartition('/')[2]}")
        answer = self.answers[method].pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ansible_collections.druidops.druid.plugins.module_utils._resources.wait.INTERVAL", 0)


@pytest.mark.parametrize(
    ("states", "reads"),
    [
        (["RUNNING"], 1),
        (["PENDING", "CONNECTING_TO_STREAM", "DISCOVERING_INITIAL_TASKS", "CREATING_TASKS", "RUNNING"], 5),
        ([None], 1),
        (["SUSPENDED"], 1),
        ([{"detailedState": "CONNECTING_TO_STREAM", "recentErrors": [{}]}, "RUNNING"], 2),
        (["UNABLE_TO_CONNECT_TO_STREAM"], 1),
        ([MISSING], 1),
        ([BROKEN], 1),
    ],
    ids=[
        "runs",
        "starts",
        "another type",
        "suspended",
        "starts with an error",
        "cannot start",
        "gone",
        "reports nothing",
    ],
)
def test_is_polled_until_it_has_started(states: list[Any], reads: int) -> None:
    druid = Druid(states)
    wait_until_started(druid, "s")  # type: ignore[arg-type]
    assert druid.sent == ["GET status"] * reads


def test_is_terminated_once_it_has_started() -> None:
    druid = Druid(["PENDING", "RUNNING"])
    terminate(druid, "s")  # type: ignore[arg-type]
    assert druid.sent == ["GET status", "GET status", "POST terminate"]


@pytest.mark.parametrize("error", [BUSY, UNREACHABLE])
def test_retry_waits_for_the_start_again(error: Exception) -> None:
    druid = Druid(["RUNNING", "PENDING", "RUNNING"], [error, None])
    terminate(druid, "s")  # type: ignore[arg-type]
    assert druid.sent == ["GET status", "POST terminate", "GET status", "GET status", "POST terminate"]


def test_error_is_raised_at_once_without_retries() -> None:
    druid = Druid(["RUNNING"], [BUSY], retries_enabled=False)
    with pytest.raises(ServerError):
        terminate(druid, "s")  # type: ignore[arg-type]


def test_absence_is_verified_in_the_list() -> None:
    terminate(Druid([MISSING], [MISSING]), "s")  # type: ignore[arg-type]
    loading = Druid([MISSING], [MISSING])
    loading.left = ["s"]
    with pytest.raises(UncertainState, match="Supervisor 's' still exists after its termination"):
        terminate(loading, "s")  # type: ignore[arg-type]


@pytest.mark.parametrize("answers", [[BROKEN], [BUSY, BUSY]])
def test_permanent_error_is_raised(answers: list[Exception]) -> None:
    druid = Druid(["RUNNING", "RUNNING"], list(answers))
    with pytest.raises(type(answers[-1])):
        terminate(druid, "s")  # type: ignore[arg-type]
    assert druid.sent.count("POST terminate") == len(answers)


def test_is_reset_once_it_has_started() -> None:
    druid = Druid(["CONNECTING_TO_STREAM", "SUSPENDED", "SUSPENDED", "SUSPENDED"])
    reset_before_resuming(druid, "s")  # type: ignore[arg-type]
    assert druid.sent == ["GET status", "GET status", "GET status", "POST reset", "GET status"]


@pytest.mark.parametrize(
    "state",
    ["CONNECTING_TO_STREAM", "UNABLE_TO_CONNECT_TO_STREAM", "LOST_CONTACT_WITH_STREAM", "STOPPING", MISSING],
    ids=lambda state: "unknown" if state is MISSING else str(state),
)
@pytest.mark.parametrize("is_reset", [False, True], ids=["before", "after"])
def test_is_not_resumed_when_a_reset_may_be_lost(state: Any, is_reset: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_start._START", 0)
    druid = Druid(["SUSPENDED", "SUSPENDED", state] if is_reset else ["SUSPENDED", state])
    with pytest.raises(NotConnected, match=r"^Supervisor 's' is \w+: it is not connected .* stays suspended"):
        reset_before_resuming(druid, "s")  # type: ignore[arg-type]
    assert ("POST reset" in druid.sent) == is_reset


class Overlord:
    """A client that lists these states of supervisors, one after the other; the last one stays."""

    def __init__(self, *states: Any) -> None:
        self.states = list(states)
        self.reads = 0

    def get(self, path: str, params: Any) -> Any:
        assert (path, params) == ("/druid/indexer/v1/supervisor", {"state": "true"})
        self.reads += 1
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if isinstance(state, Exception):
            raise state
        return [{"id": name, "detailedState": detailed} for name, detailed in state.items()]


def started(overlord: Overlord) -> tuple[SupervisorStarts, FakeTime]:
    clock = FakeTime()
    ticks = Clock(monotonic=lambda: sum(clock.pauses), sleep=clock.sleep)
    return SupervisorStarts(overlord, ticks), clock  # type: ignore[arg-type]


def test_starts_of_many_supervisors_share_their_time() -> None:
    overlord = Overlord(dict.fromkeys("abcdefgh", "CONNECTING_TO_STREAM"))
    starts, clock = started(overlord)
    for each in "abcdefgh":
        starts.wait_until_started(each)
    assert sum(clock.pauses) == 20
    # a request each second, and one for each of the others
    assert overlord.reads == 21 + 7


def test_supervisor_that_starts_again_has_its_time_again() -> None:
    connecting, runs = {"a": "CONNECTING_TO_STREAM", "b": "PENDING"}, {"a": "CONNECTING_TO_STREAM", "b": "RUNNING"}
    starts, clock = started(Overlord(*([connecting] * 5), runs, connecting))
    for each in "ab":
        starts.wait_until_started(each)
    # 5 s after the first one, b ran; its second start was seen at 6 s
    assert sum(clock.pauses) == 6 + 20


@pytest.mark.parametrize(
    "state",
    [{"a": "RUNNING"}, {"a": None}, {"a": "UNABLE_TO_CONNECT_TO_STREAM"}, {"b": "PENDING"}, {}, BROKEN, MISSING],
)
def test_nothing_else_is_waited_for(state: Any) -> None:
    overlord = Overlord(state)
    starts, clock = started(overlord)
    starts.wait_until_started("a")
    assert (clock.pauses, overlord.reads) == ([], 1)


def test_unreachable_druid_is_an_error_in_a_list_too() -> None:
    starts, _clock = started(Overlord(UNREACHABLE))
    with pytest.raises(Unreachable):
        starts.wait_until_started("a")
