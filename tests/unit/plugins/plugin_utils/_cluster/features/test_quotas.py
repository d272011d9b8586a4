# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that fit into a quota one by one, but not together."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.quotas import beyond, have_sums
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.recreate import Recreate
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from hypothesis import given
from hypothesis import strategies as st

Manifest = dict[str, Any]


def service(kind: str = "ClusterIP", ports: int = 1, **more: Any) -> Manifest:
    metadata = {"name": f"{kind}-{ports}", "namespace": "ns"}
    return {"kind": "Service", "metadata": metadata, "spec": {"type": kind, "ports": [{}] * ports, **more}}


def claim(storage: str = "1Gi", **more: Any) -> Manifest:
    spec = {"resources": {"requests": {"storage": storage}}, **more}
    return {"kind": "PersistentVolumeClaim", "metadata": {"name": storage, "namespace": "ns"}, "spec": spec}


def other(kind: str) -> Manifest:
    return {"kind": kind, "metadata": {"name": kind, "namespace": "ns"}}


def step(after: Manifest, group: str | None = "g", live: Manifest | None = None, is_recreated: bool = False) -> Step:
    if is_recreated:
        return Recreate(manifest=after, group=group, live=live or after, after=after)
    return Apply(manifest=after, group=group, live=live, after=after)


def changed(live: Manifest, after: Manifest) -> Step:
    return step(after, live=live, is_recreated=False)


def quota(hard: dict[str, str], used: dict[str, str] | None = None, **spec: Any) -> Manifest:
    zero = dict.fromkeys(hard, "0")
    return {"metadata": {"name": "q"}, "spec": {"hard": hard, **spec}, "status": {"hard": hard, "used": used or zero}}


SC = "fast.storageclass.storage.k8s.io"
TWO = [step(service()), step(service())]
CLAIMS = [step(claim("1Gi", storageClassName="fast")), step(claim("512Mi", storageClassName="fast"))]
PORTS = [step(service("NodePort", 2)), step(service("LoadBalancer", 1))]
WITHOUT_NODE_PORTS = service("LoadBalancer", 2, allocateLoadBalancerNodePorts=False)
TABLE: list[tuple[str, list[Step], dict[str, str], dict[str, str], str]] = [
    ("sufficient", TWO, {"count/services": "2"}, {}, ""),
    ("exceeded", TWO, {"count/services": "1"}, {}, "requested: count/services=1, used: count/services=1, limited"),
    ("used", TWO, {"services": "3"}, {"services": "2"}, "requested: services=1, used: services=3, limited: services=3"),
    ("both", TWO, {"count/services": "1", "services": "1"}, {},
     "requested: count/services=1,services=1, used: count/services=1,services=1, limited: count/services=1,services=1"),
    ("a thousand", TWO, {"services": "1k"}, {"services": "999"}, "used: services=1000, limited: services=1000"),
    ("another kind", TWO, {"count/configmaps": "1"}, {}, ""),
    ("a group of the API", [step(other("Deployment"))] * 2, {"count/deployments.apps": "1"}, {}, "deployments.apps=1"),
    ("an unknown resource name", [step(other("Deployment"))] * 2, {"deployments": "1"}, {}, ""),
    ("storage", CLAIMS, {"requests.storage": "1Gi"}, {}, "requests.storage=512Mi, used: requests.storage=1Gi"),
    ("storage within the quota", CLAIMS, {"requests.storage": "1536Mi"}, {}, ""),
    ("storage class", CLAIMS, {f"{SC}/requests.storage": "1.4Gi"}, {}, f"{SC}/requests.storage=512Mi"),
    ("claims of a class", CLAIMS, {f"{SC}/persistentvolumeclaims": "1"}, {}, f"{SC}/persistentvolumeclaims=1"),
    ("another class", CLAIMS, {"slow.storageclass.storage.k8s.io/persistentvolumeclaims": "1"}, {}, ""),
    ("node ports", PORTS, {"services.nodeports": "2"}, {}, "services.nodeports=1, used: services.nodeports=2"),
    ("node ports within the quota", PORTS, {"services.nodeports": "3", "services.loadbalancers": "1"}, {}, ""),
    ("no node ports", [*PORTS, step(WITHOUT_NODE_PORTS)], {"services.nodeports": "3"}, {}, ""),
    ("load balancers", [step(WITHOUT_NODE_PORTS)] * 2, {"services.loadbalancers": "1"}, {}, "services.loadbalancers=1"),
    ("an unchanged object", [changed(service(), service()), step(service())], {"services": "2"}, {"services": "1"}, ""),
    ("an increase", [changed(service(), service("NodePort")), step(service("NodePort"))], {"services.nodeports": "1"},
     {}, "services.nodeports=1"),
    ("a decrease", [changed(service("NodePort"), service()), step(service("NodePort"))],
     {"services.nodeports": "1"}, {"services.nodeports": "1"}, ""),
    ("recreated", [step(service(), live=service(), is_recreated=True), step(service())], {"services": "2"},
     {"services": "1"}, ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "hard", "used", "message"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_beyond(steps: list[Step], hard: dict[str, str], used: dict[str, str], message: str) -> None:
    findings = beyond(steps, [quota(hard, used)])
    assert len(findings) == bool(message)
    for finding in findings:
        assert (finding.reason, finding.group) == (reasons.REJECTED_BY_API_SERVER, "g")
        assert "exceeded quota: q, requested: " in finding.message
        assert message in finding.message
        assert f"Cannot write {steps[-1].key} in namespace ns: " in finding.message
        assert finding.message.endswith(" Nothing of group g is changed.")


def test_leaf_is_rejected_alone() -> None:
    """A rejected leaf uses no quota, nor does a leaf in a blocked group."""
    first, second = (step(other("Ingress"), group) for group in "ab")
    [finding] = beyond([step(service()), first, second], [quota({"count/ingresses.networking.k8s.io": "1"})])
    assert (finding.group, finding.object) == ("b", "Ingress Ingress")
    blocked = [step(service(), "a"), step(service(), "a"), first, second]
    [finding] = beyond(blocked, [quota({"services": "1", "count/ingresses.networking.k8s.io": "1"})])
    assert (finding.group, finding.object) == ("a", None)


def test_earlier_groups_use_the_quota_first() -> None:
    steps = [step(service(), group) for group in ("a", "a", "b", "b", "c")]
    findings = beyond(steps, [quota({"services": "3"})])
    assert [finding.group for finding in findings] == ["b"]


def test_shared_objects_use_the_quota_first() -> None:
    steps = [step(other("ConfigMap"), group) for group in (None, "a", "a")]
    [finding] = beyond(steps, [quota({"configmaps": "2"})])
    assert finding.group == "a"


WITHOUT_EFFECT = [
    quota({}),
    quota({"services": "0"}, scopes=["BestEffort"]),
    quota({"services": "0"}, scopeSelector={}),
    {**quota({"services": "0"}), "status": {}},
]


@pytest.mark.parametrize("which", WITHOUT_EFFECT)
def test_quotas_without_an_effect(which: Manifest) -> None:
    assert beyond(TWO, [which]) == ()


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([], False),
        ([step(service())], False),
        ([step(service()), step(other("ConfigMap"), "h")], False),
        ([step(service()), step(service(), "h")], True),
        ([step(service()), changed(service(), service())], False),
    ],
)
def test_have_sums(steps: list[Step], expected: bool) -> None:
    assert have_sums(steps) is expected


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 4))), st.integers(0, 9), st.integers(0, 9))
def test_whole_groups_are_written_within_the_limit(sizes: list[tuple[str, int]], used: int, hard: int) -> None:
    """All accepted groups are within the limit, and no rejected group would have been after the earlier ones."""
    numbers = dict(sizes)
    steps = [step(service(), group) for group, number in numbers.items() for _step in range(number)]
    rejected = [finding.group for finding in beyond(steps, [quota({"services": str(hard)}, {"services": str(used)})])]
    room = hard - used
    for group, number in numbers.items():
        assert (group in rejected) == (number > room)
        room -= 0 if group in rejected else number
