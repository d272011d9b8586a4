# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which redirects the client follows, and which credentials it sends: over real sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import Redirected, Unreachable
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import BASIC, FakeTime, fake_time
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import (
    Answer,
    Server,
    say,
    serving,
)

__all__ = ["fake_time"]

SUPERVISOR = "/druid/indexer/v1/supervisor"
LEADER = "/druid/indexer/v1/leader"
COORDINATOR_LEADER = "/druid/coordinator/v1/leader"
NAME_IT = "is neither listed in the option url nor reported as leader by this server, so nothing was sent to it"


def to(target: Callable[[], str], status: int = 307) -> Answer:
    """Redirect to the same path elsewhere, as Druid's RedirectFilter does."""

    def answer(handler: Any) -> None:
        say(status, Location=f"{target()}{handler.path}")(handler)

    return answer


@pytest.fixture
def standby() -> Iterator[Server]:
    """An Overlord that does not lead."""
    with serving() as running:
        yield running


@pytest.fixture
def leader(standby: Server) -> Iterator[Server]:
    """The one that leads, and that the other one knows."""
    with serving() as running:
        standby.answers = [to(lambda: running.url)]
        standby.routes = {LEADER: [say(200, running.url)], COORDINATOR_LEADER: [say(200, running.url)]}
        running.answers = [say(200, {"id": "a"})]
        yield running


@pytest.mark.parametrize("status", [307, 308])
def test_a_write_reaches_the_leader_with_body_query_and_credentials(
    status: int, standby: Server, leader: Server, fake_time: FakeTime
) -> None:
    standby.answers = [to(lambda: leader.url, status)]
    answer = fake_time.client(standby.url).post(SUPERVISOR, {"a": 1}, {"skipRestartIfUnmodified": True})
    assert answer == {"id": "a"}
    [asked] = leader.asked
    assert (asked.method, asked.path, asked.body) == (
        "POST",
        f"{SUPERVISOR}?skipRestartIfUnmodified=true",
        b'{"a": 1}',
    )
    assert asked.headers["authorization"] == BASIC
    assert asked.headers["content-type"] == "application/json"
    assert standby.paths == [f"POST {asked.path}", f"GET {LEADER}"]


def test_next_requests_are_sent_to_the_leader_directly(standby: Server, leader: Server, fake_time: FakeTime) -> None:
    client = fake_time.client(standby.url)
    leader.answers = [say(200, ["a"])]
    for _time in range(3):
        client.get(SUPERVISOR)
    assert standby.paths == [f"GET {SUPERVISOR}", f"GET {LEADER}"]
    assert leader.paths == [f"GET {SUPERVISOR}"] * 3


def test_requests_without_a_leader_are_sent_to_the_named_server(
    standby: Server, leader: Server, fake_time: FakeTime
) -> None:
    standby.routes["/status"] = [say(200, {"version": "33.0.0"})]
    leader.answers = [say(200, ["a"])]
    client = fake_time.client(standby.url)
    client.get(SUPERVISOR)
    assert client.version == (33, 0, 0)
    assert leader.paths == [f"GET {SUPERVISOR}"]


def test_finds_the_next_leader_if_this_one_is_unreachable(standby: Server, fake_time: FakeTime) -> None:
    with serving() as second:
        with serving() as first:
            standby.answers = [to(lambda: first.url)]
            standby.routes = {LEADER: [say(200, first.url), say(200, second.url)]}
            client = fake_time.client(standby.url)
            client.post(SUPERVISOR)
        standby.answers = [to(lambda: second.url)]
        client.post(SUPERVISOR)
        assert (first.paths, second.paths) == ([f"POST {SUPERVISOR}"], [f"POST {SUPERVISOR}"])
        assert fake_time.pauses == []


def test_unreachable_leader_is_named(standby: Server, leader: Server, fake_time: FakeTime) -> None:
    missing = "http://overlord.invalid:8090"
    standby.answers = [to(lambda: missing)]
    standby.routes = {LEADER: [say(200, missing)]}
    with pytest.raises(
        Unreachable, match=rf"^POST {missing}{SUPERVISOR} got no response: the host name cannot be resolved"
    ):
        fake_time.client(standby.url).post(SUPERVISOR)


@pytest.mark.parametrize(
    "not_a_redirect",
    [
        say(200, "http://other.example.com:8090"),
        say(200, ""),
        say(200, "[not a URL"),
        say(404),
        say(403, {"Access-Check-Result": "Unauthorized"}),
        say(302, Location="https://login.example.com/"),
    ],
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_unconfirmed_server_gets_no_request(
    not_a_redirect: Answer, status: int, standby: Server, leader: Server, fake_time: FakeTime
) -> None:
    standby.answers = [to(lambda: leader.url, status)]
    standby.routes = {LEADER: [not_a_redirect], COORDINATOR_LEADER: [not_a_redirect]}
    with pytest.raises(Redirected) as caught:
        fake_time.client(standby.url).post(SUPERVISOR, {"password": "hunter2"}, {"token": "x"})
    assert str(caught.value).startswith(f"POST {standby.url}{SUPERVISOR}?token=******** returned {status} "), (
        caught.value
    )
    assert str(caught.value).endswith(
        f": a redirect to {leader.url}. {leader.url} {NAME_IT}. If the target is correct, add it to url."
    )
    assert leader.asked == []
    confirmations = [f"GET {LEADER}", f"GET {COORDINATOR_LEADER}"] if status in (307, 308) else []
    assert standby.paths == [f"POST {SUPERVISOR}?token=x", *confirmations]


def test_named_server_requires_no_confirmation(standby: Server, leader: Server, fake_time: FakeTime) -> None:
    fake_time.client(standby.url, leader.url).post(SUPERVISOR)
    assert (standby.paths, leader.paths) == ([f"POST {SUPERVISOR}"], [f"POST {SUPERVISOR}"])


def test_other_path_of_a_shared_host_is_not_the_named_server(standby: Server, fake_time: FakeTime) -> None:
    standby.answers = [say(307, Location="/others/druid")]
    with pytest.raises(Redirected, match=NAME_IT):
        fake_time.client(f"{standby.url}/ours").get(SUPERVISOR)
    assert [asked.path for asked in standby.asked if asked.path.startswith("/others")] == []


@pytest.mark.parametrize("location", ["/ours/../others/x", "/ours/%2e%2e/others/x"])
def test_redirect_cannot_leave_the_named_path(location: str, standby: Server, fake_time: FakeTime) -> None:
    standby.answers = [say(307, Location=location)]
    with pytest.raises(Redirected, match=NAME_IT):
        fake_time.client(f"{standby.url}/ours").get(SUPERVISOR)
    assert [asked.path for asked in standby.asked if asked.path.endswith("/others/x")] == []


def test_leader_is_requested_below_the_named_path(standby: Server, leader: Server, fake_time: FakeTime) -> None:
    standby.routes = {f"/ours{LEADER}": [say(200, leader.url)]}
    standby.answers = [say(307, Location=f"{leader.url}{SUPERVISOR}")]
    leader.answers = [say(200, ["a"])]
    assert fake_time.client(f"{standby.url}/ours").get(SUPERVISOR) == ["a"]
    assert standby.paths == [f"GET /ours{SUPERVISOR}", f"GET /ours{LEADER}"]


@pytest.mark.parametrize("call", ["get", "post"])
def test_redirect_loop_ends(call: str, standby: Server, fake_time: FakeTime) -> None:
    standby.answers = [to(lambda: standby.url)]
    with pytest.raises(Redirected) as caught:
        getattr(fake_time.client(standby.url), call)(SUPERVISOR)
    assert str(caught.value) == (
        f"{call.upper()} {standby.url}{SUPERVISOR} returned 307 Temporary Redirect: too many "
        f"redirects, the last one to {standby.url}{SUPERVISOR}. The servers disagree about the leader. Retry, or check "
        "their logs."
    )
    assert len(standby.asked) == 4
    assert fake_time.pauses == []


@pytest.mark.parametrize("headers", [{}, {"Location": "http://[bad"}, {"Location": "http://a:b"}])
def test_invalid_redirect(headers: dict[str, str], standby: Server, fake_time: FakeTime) -> None:
    standby.answers = [say(307, **headers)]
    with pytest.raises(Redirected) as caught:
        fake_time.client(standby.url).get(SUPERVISOR)
    assert str(caught.value) == (
        f"GET {standby.url}{SUPERVISOR} returned 307 Temporary Redirect: invalid redirect. "
        "Check the option url and the proxy."
    )
    assert len(standby.asked) == 1


def test_redirect_with_userinfo_is_rejected(standby: Server, leader: Server, fake_time: FakeTime) -> None:
    standby.answers = [to(lambda: leader.url.replace("//", "//user:hunter2@"))]
    standby.routes = {}
    with pytest.raises(Redirected) as caught:
        fake_time.client(standby.url).get(SUPERVISOR)
    assert "hunter2" not in str(caught.value)
    assert leader.asked == []


@pytest.mark.parametrize("location", ["/admin?cmd=1", SUPERVISOR, f"{SUPERVISOR}?a=1&cmd=2", f"{SUPERVISOR}/x?a=1", ""])
def test_leader_gets_the_same_path_and_query_or_nothing(
    location: str, standby: Server, leader: Server, fake_time: FakeTime
) -> None:
    standby.answers = [say(307, Location=f"{leader.url}{location}")]
    with pytest.raises(Redirected) as caught:
        fake_time.client(standby.url).get(SUPERVISOR, {"a": 1})
    assert leader.asked == []
    assert "cmd" not in str(caught.value)


def test_named_server_gets_the_same_path_or_nothing(standby: Server, fake_time: FakeTime) -> None:
    standby.answers = [say(307, Location="/admin")]
    with pytest.raises(Redirected):
        fake_time.client(standby.url).get(SUPERVISOR)
    assert standby.paths == [f"GET {SUPERVISOR}"]


@pytest.mark.parametrize(
    ("hosts", "is_allowed"),
    [
        ((), True),
        ((("127.0.0.1",), ("*",)), True),
        ((("127.0.0.1",), ("overlord",)), False),
        ((("overlord, 127.0.0.2",),), False),
        ((("127.0.0.1:1",),), False),
    ],
)
def test_leader_gets_credentials_only_if_its_host_may_receive_them(
    hosts: tuple[tuple[str, ...], ...], is_allowed: bool, standby: Server, leader: Server, fake_time: FakeTime
) -> None:
    client = fake_time.client(standby.url, credential_hosts=hosts)
    if is_allowed:
        client.post(SUPERVISOR)
    else:
        with pytest.raises(Redirected, match="may not receive the credentials, so nothing was sent to it"):
            client.post(SUPERVISOR)
    assert bool(leader.asked) is is_allowed
