# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the stand-in of ansible-operator decides: by durations, names, changes, events, labels, paths."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.testbed.operator.go_duration import seconds
from ansible_collections.druidops.druid.tests.testbed.operator.informer import Change, What
from ansible_collections.druidops.druid.tests.testbed.operator.kinds import Kind, Resource
from ansible_collections.druidops.druid.tests.testbed.operator.label_selector import equalities, selected
from ansible_collections.druidops.druid.tests.testbed.operator.marking import failed
from ansible_collections.druidops.druid.tests.testbed.operator.owner import Owner, encoded, requesting_owner
from ansible_collections.druidops.druid.tests.testbed.operator.parameters import mark_unsafe
from ansible_collections.druidops.druid.tests.testbed.operator.predicates import of_dependent
from ansible_collections.druidops.druid.tests.testbed.operator.request_path import target
from ansible_collections.druidops.druid.tests.testbed.operator.settings import settings
from ansible_collections.druidops.druid.tests.testbed.operator.snake_case import snake_case
from ansible_collections.druidops.druid.tests.testbed.operator.verdict import BadPeriodError, Verdict, verdict
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
    """Is refused."""
    with pytest.raises(ValueError, match="duration"):
        seconds(text)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("commonConfig", "common_config"),
        ("podIPs", "pod_ips"),
        ("egressIP", "egress_ip"),
        ("druid.extensions.loadList", "druid.extensions.load_list"),
        ("JAVA_OPTS", "_java_opts"),
        ("-Xmx", "_xmx"),
        ("log4j2.xml", "log_4_j2.xml"),
        ("node-1", "node_1"),
        ("nodeIPv6", "node_ip_v6"),
        ("JSONData", "_json_data"),
        ("HTTPPort", "http_port"),
    ],
)
def test_snake_case(name: str, changed: str) -> None:
    """Names as the real program changes them."""
    assert snake_case(name) == changed


def test_empty_name() -> None:
    """Ends a reconcile, as in the real program."""
    with pytest.raises(IndexError):
        snake_case(" ")


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


def event(action: str, what: str = "runner_on_ok", **told: Any) -> dict[str, Any]:
    """An event of a task."""
    return {"event": what, "event_data": {"task_action": action, **told}}


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
        ([event("operator_sdk.util.requeue_after", res={"period": "0s"})], Verdict(requeue_after=0)),
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
    with pytest.raises(BadPeriodError, match="period"):
        verdict([event("requeue_after", res=result)])


def updated(old: dict[str, Any], new: dict[str, Any]) -> Change:
    """A change of an object."""
    return Change(What.UPDATED, {"metadata": {}, **old}, {"metadata": {}, **new})


def managed(fields: list[dict[str, Any]]) -> dict[str, Any]:
    """An object whose fields have these managers."""
    return {"metadata": {"managedFields": fields}}


FIELDS = [{"manager": "a", "time": "1", "fieldsV1": {"f:a": {}}}]


@pytest.mark.parametrize(
    ("change", "acts"),
    [
        (Change(What.CREATED, {"metadata": {}}, {"metadata": {}}), False),
        (Change(What.DELETED, {"metadata": {}}, {"metadata": {}}), True),
        (updated({"data": 1}, {"data": 2}), True),
        (updated({"status": 1}, {"status": 2}), False),
        (updated({"metadata": {"resourceVersion": "1"}}, {"metadata": {"resourceVersion": "2"}}), False),
        (updated({"metadata": {"labels": {}}}, {"metadata": {"labels": {"a": "b"}}}), True),
        (
            updated(
                {"metadata": {"managedFields": FIELDS}}, {"metadata": {"managedFields": [{**FIELDS[0], "time": "2"}]}}
            ),
            False,
        ),
        (updated({"metadata": {"managedFields": FIELDS}}, {"metadata": {"managedFields": FIELDS * 2}}), True),
    ],
)
def test_dependent(change: Change, acts: bool) -> None:
    """Which changes of owned objects are acted on."""
    assert of_dependent(change) is acts


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("", {}),
        ("a=b", {"a": "b"}),
        ("a=b, example.com/c=", {"a": "b", "example.com/c": ""}),
        ("a==b", None),
        ("a!=b", None),
        ("a", None),
        ("!a", None),
        ("a in (b,c)", None),
    ],
)
def test_equalities(text: str, labels: dict[str, str] | None) -> None:
    """The selectors that the cache understands."""
    assert equalities(text) == labels


def test_selector_of_a_watch() -> None:
    """Labels and expressions."""
    expressions = [{"key": "b", "operator": "In", "values": ["x"]}, {"key": "c", "operator": "DoesNotExist"}]
    selector = {"matchLabels": {"a": "1"}, "matchExpressions": expressions}
    assert selected({"a": "1", "b": "x"}, selector)
    assert not selected({"a": "1", "b": "y"}, selector)
    assert not selected({"a": "1", "b": "x", "c": ""}, selector)
    assert not selected({"b": "x"}, selector)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/version", None),
        ("/api", None),
        ("/api/v1", None),
        ("/apis/apps/v1", None),
        ("/api/v1/watch/pods", None),
        ("/api/v1/pods?limit=1", ("", "v1", "", "pods", "", "")),
        ("/api/v1/namespaces/a", ("", "v1", "a", "namespaces", "a", "")),
        ("/api/v1/namespaces/a/status", ("", "v1", "a", "namespaces", "a", "status")),
        ("/api/v1/namespaces/a/pods/b/log", ("", "v1", "a", "pods", "b", "log")),
        ("/apis/apps/v1/namespaces/a/deployments", ("apps", "v1", "a", "deployments", "", "")),
    ],
)
def test_path(url: str, expected: tuple[str, ...] | None) -> None:
    """What a request is about."""
    found = target(url)
    named = found and (found.group, found.version, found.namespace, found.plural, found.name, found.subresource)
    assert named == expected


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
    user = base64.b64encode(f"{encoded(owner)}:unused".encode()).decode()
    assert requesting_owner(f"Basic {user}") == owner
    assert requesting_owner("Bearer x") is None
    assert requesting_owner(None) is None


def test_failure_in_a_status() -> None:
    """Takes the place of other conditions' truth; what is not known of conditions is lost."""
    before = {"phase": "x", "conditions": [{"type": "Running", "status": "True", "observedGeneration": 3}]}
    after = failed(before, "no")
    running, failure = after["conditions"]
    assert after["phase"] == "x"
    assert (running["status"], "observedGeneration" in running) == ("False", False)
    assert (failure["type"], failure["status"], failure["reason"], failure["message"]) == (
        "Failure",
        "True",
        "Failed",
        "no",
    )
    assert failed(after, "other")["conditions"][1] == failure


def test_flags() -> None:
    """As they are given to the real program."""
    given_flags = ["run", "--leader-elect", "--leader-election-id=a", "--leader-election-namespace", "b"]
    asked = settings(
        [*given_flags, "--reconcile-period=1m", "--health-probe-bind-address=:6789", "--inject-owner-ref=false"],
        {"WATCH_NAMESPACE": "x, y,"},
    )
    assert asked.namespaces == ("x", "y")
    assert asked.reconcile_period == 60
    assert asked.probe_address == ("", 6789)
    assert not asked.inject_owner_ref
    assert asked.election is not None
    assert (asked.election.id, asked.election.lease_duration, asked.election.renew_deadline) == ("a", 15, 10)
    assert settings(["run"], {}).election is None
    assert (settings(["run"], {}).reconcile_period, settings(["run"], {}).graceful_shutdown_timeout) == (36000, 30)


@pytest.mark.parametrize("arguments", [[], ["run", "--no-such-flag"], ["run", "--leader-elect"]])
def test_unknown_flags(arguments: list[str]) -> None:
    """Are refused."""
    with pytest.raises(SystemExit):
        settings(arguments, {})
