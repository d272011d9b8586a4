# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The decisions of the stand-in of ansible-operator: on durations, names, changes, events, labels, paths."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.testbed.operator.dependents import is_cause
from ansible_collections.druidops.druid.tests.testbed.operator.events import Verdict, verdict
from ansible_collections.druidops.druid.tests.testbed.operator.go_duration import seconds
from ansible_collections.druidops.druid.tests.testbed.operator.kinds import Kind, Resource
from ansible_collections.druidops.druid.tests.testbed.operator.launch import mark_unsafe
from ansible_collections.druidops.druid.tests.testbed.operator.owner import Owner, kubeconfig, requesting_owner
from ansible_collections.druidops.druid.tests.testbed.operator.settings import settings
from ansible_collections.druidops.druid.tests.testbed.operator.work_queue import backoff
from hypothesis import given
from hypothesis import strategies as st

STATS = {"event": "playbook_on_stats", "event_data": {"ok": {"localhost": 1}}}


@pytest.mark.parametrize(
    ("text", "value"),
    [("5m", 300), ("1h30m", 5400), ("1.5s", 1.5), (".5s", 0.5), ("100ms", 0.1), ("0", 0), ("-1s", -1), ("10us", 1e-5)],
)
def test_duration(text: str, value: float) -> None:
    """As Go writes it."""
    assert seconds(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "5", "5 m", "m", "1d", "1m x", "1,5s", 5, None])
def test_no_duration(text: object) -> None:
    """Is rejected."""
    with pytest.raises(ValueError, match="duration"):
        seconds(text)


def test_mark_unsafe() -> None:
    """Every string, no name."""
    marked = {"a": {"__ansible_unsafe": "b"}, "c": [1, None, {"__ansible_unsafe": ""}, True]}
    assert mark_unsafe({"a": "b", "c": [1, None, "", True]}) == marked


@pytest.mark.parametrize(
    ("failures", "delay"), [(1, 0.005), (2, 0.01), (3, 0.02), (18, 655.36), (19, 1000), (9999, 1000)]
)
def test_backoff(failures: int, delay: float) -> None:
    """5 ms, twice as long each time, 1000 s at most."""
    assert backoff(failures) == pytest.approx(delay)


def event(action: str, what: str = "runner_on_ok", **data: Any) -> dict[str, Any]:
    """An event of a task."""
    return {"event": what, "event_data": {"task_action": action, **data}}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([STATS], Verdict(complete=True)),
        ([], Verdict()),
        ([event("debug"), event("debug", "runner_on_failed", res={"msg": "no"}), STATS], Verdict(True, ("no",))),
        ([event("debug", "runner_on_failed"), STATS], Verdict(True, ("unknown playbook failure",))),
        ([event("debug", "runner_on_failed", ignore_errors=True), STATS], Verdict(True)),
        ([event("debug", "runner_item_on_failed", res={"msg": "no"}), STATS], Verdict(True)),
        ([event("requeue_after", res={"period": "5s"}), STATS], Verdict(requeue_after=5)),
        ([event("requeue_after", res={"period": "0s"})], Verdict(requeue_after=0)),
        ([event("requeue_after", "runner_on_failed", res={"msg": "no"}), STATS], Verdict(True, ("no",))),
        ([event("requeue_after", "playbook_on_task_start"), STATS], Verdict(True)),
        ([event("druidops.druid.requeue_after", res={"period": "5s"}), STATS], Verdict(True)),
    ],
)
def test_verdict(events: list[dict[str, Any]], expected: Verdict) -> None:
    """Of the events of a run."""
    assert verdict(events) == expected


@pytest.mark.parametrize("result", [{}, {"period": 5}, {"period": "soon"}])
def test_bad_period(result: dict[str, Any]) -> None:
    """Is an error."""
    with pytest.raises(ValueError, match="duration"):
        verdict([event("requeue_after", res=result)])


def managed(*fields: dict[str, Any]) -> dict[str, Any]:
    """An object whose fields have these managers."""
    return {"metadata": {"managedFields": [*fields]}}


BARE: dict[str, Any] = {"metadata": {}}
FIELD = {"manager": "a", "time": "1", "fieldsV1": {"f:a": {}}}


@pytest.mark.parametrize(
    ("old", "new", "acts"),
    [
        (None, BARE, False),
        (BARE, None, True),
        ({**BARE, "data": 1}, {**BARE, "data": 2}, True),
        ({**BARE, "status": 1}, {**BARE, "status": 2}, False),
        ({"metadata": {"resourceVersion": "1"}}, {"metadata": {"resourceVersion": "2"}}, False),
        ({"metadata": {"labels": {}}}, {"metadata": {"labels": {"a": "b"}}}, True),
        (managed(FIELD), managed({**FIELD, "time": "2"}), False),
        (managed(FIELD), managed(FIELD, FIELD), True),
    ],
)
def test_dependent(old: dict[str, Any] | None, new: dict[str, Any] | None, acts: bool) -> None:
    """Which changes of owned objects are causes of runs."""
    assert is_cause(old, new) is acts


def test_path_of_a_resource() -> None:
    """In a namespace, or in none."""
    deployments = Resource(Kind("apps", "v1", "Deployment"), "deployments", True, frozenset())
    nodes = Resource(Kind("", "v1", "Node"), "nodes", False, frozenset())
    assert deployments.path("a", "b") == "/apis/apps/v1/namespaces/a/deployments/b"
    assert deployments.path() == "/apis/apps/v1/deployments"
    assert nodes.path("a", "b") == "/api/v1/nodes/b"


@given(st.text("abcdefghijklmnopqrstuvwxyz0123456789.-", min_size=1, max_size=253), st.uuids())
def test_owner_survives_the_kubeconfig(name: str, uid: object) -> None:
    """Whatever its name is."""
    owner = Owner("druid.apache.org/v1alpha1", "Druid", name, str(uid), "default")
    user = json.loads(kubeconfig(owner, 1))["users"][0]["user"]["username"]
    assert requesting_owner(f"Basic {base64.b64encode(f'{user}:unused'.encode()).decode()}") == owner
    assert requesting_owner("Bearer x") is None
    assert requesting_owner(None) is None


def test_flags() -> None:
    """In the form of the real program."""
    flags = ["run", "--leader-elect", "--leader-election-id=a", "--leader-election-namespace", "b"]
    asked = settings(
        [*flags, "--max-concurrent-reconciles=7", "--health-probe-bind-address=:6789"],
        {"WATCH_NAMESPACE": "x, y,"},
    )
    assert asked.namespaces == ("x", "y")
    assert asked.workers == 7
    assert asked.probe_address == ("", 6789)
    assert asked.election is not None
    assert (asked.election.id, asked.election.lease_duration, asked.election.renew_deadline) == ("a", 15, 10)
    assert settings(["run"], {}).election is None
    assert settings(["run"], {}).graceful_shutdown_timeout == 30


@pytest.mark.parametrize("arguments", [[], ["run", "--no-such-flag"]])
def test_unknown_flags(arguments: list[str]) -> None:
    """Are rejected."""
    with pytest.raises(SystemExit):
        settings(arguments, {})
