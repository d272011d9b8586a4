# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A mutating webhook changes what is written: that is what counts, and causes neither writes nor recreations."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.system.support import all_kinds_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.go_operator import GoOperator, identities
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass, until_ready
from ansible_collections.druidops.druid.tests.system.support.mutating_webhook import ALWAYS, mutating
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
    without_status,
)

NAME, SET, CLAIM = all_kinds_cluster.NAME, "druid-wiki-data", "segments-druid-wiki-data-0"
MIRROR = "mirror.example.com/"
OVERRIDDEN_REPLICAS = "spec.replicas: specified 1, stored 2"
_NUMBERS = itertools.count()


def describe(metadata: Manifest, **more: str) -> None:
    for field in ("labels", "annotations"):
        metadata[field] = {**(metadata.get(field) or {}), "policy": "seen", **more}


def add(live: Manifest) -> None:
    """Add to everything: labels and annotations, also of templates, containers, ports, variables, claims."""
    describe(live["metadata"])
    spec = live.get("spec") or {}
    if "ports" in spec and len(spec["ports"]) == 1:
        spec["ports"].append({"name": "policy", "port": 15000})
    if "template" in spec:
        add_to_pods(spec["template"])
    for claim in spec.get("volumeClaimTemplates") or ():
        describe(claim["metadata"])


def add_to_pods(template: Manifest) -> None:
    describe(template["metadata"])
    containers = template["spec"]["containers"]
    if len(containers) == 1:
        containers[0].setdefault("env", []).append({"name": "POLICY", "value": "seen"})
        containers.append({"name": "policy", "image": "example.com/policy"})


def override(live: Manifest) -> None:
    """Override fields of every kind."""
    live["metadata"]["labels"]["app.kubernetes.io/managed-by"] = "policy"
    spec = live.get("spec") or {}
    if live["kind"] == "ConfigMap":
        live["data"] = dict.fromkeys(live["data"], "overridden")
    for field, value in OVERRIDDEN.get(live["kind"], {}).items():
        spec[field] = value
    for container in spec.get("template", {}).get("spec", {}).get("containers") or ():
        container["image"] = MIRROR + container["image"].removeprefix(MIRROR)
    for claim in spec.get("volumeClaimTemplates") or ():
        claim["spec"]["resources"]["requests"]["storage"] = "2Gi"


OVERRIDDEN: dict[str, Manifest] = {
    "Service": {"type": "NodePort"},
    "StatefulSet": {"replicas": 2, "podManagementPolicy": "OrderedReady"},
    "Deployment": {"replicas": 2},
    "Ingress": {"defaultBackend": {"service": {"name": "policy", "port": {"number": 80}}}},
    "PodDisruptionBudget": {"maxUnavailable": 2},
    "HorizontalPodAutoscaler": {"maxReplicas": 2},
}


def stamp(live: Manifest) -> None:
    """Override, and write another value each time, as a policy does that records the time."""
    override(live)
    describe(live["metadata"], stamp=str(next(_NUMBERS)))
    for claim in (live.get("spec") or {}).get("volumeClaimTemplates") or ():
        # An update that changes it would be rejected.
        describe(claim["metadata"], **({} if "uid" in live["metadata"] else {"stamp": str(next(_NUMBERS))}))


def uids(live: NamespaceClient) -> dict[tuple[str, str], str]:
    kinds = ("StatefulSet", "Deployment", "Service", "PersistentVolumeClaim", "Pod")
    return {(kind, each["metadata"]["name"]): each["metadata"]["uid"] for kind in kinds for each in live.list(kind)}


def quiet_pass(live: NamespaceClient) -> Outcome[Plan]:
    """Reconcile once; nothing is written."""
    mark = live.mark()
    outcome = one_pass(live, NAME)
    written = [write for write in without_status(live.writes(mark)) if "dry run" not in write]
    assert (written, [step.title for step in outcome.plan.steps], outcome.changed) == ([], [], False)
    assert outcome.plan.findings == ()
    return outcome


CASES: list[Any] = [
    pytest.param(mutate, operations, id=f"{mutate.__name__} on {' and '.join(operations)}", marks=marks)
    for mutate, operations, marks in (
        (add, ("CREATE",), ()),
        (add, ALWAYS, campaign("the same for other values")),
        (override, ALWAYS, ()),
        (override, ("CREATE",), campaign("that the specified values arrive")),
        (stamp, ALWAYS, ()),
    )
]


@pytest.mark.parametrize(("mutate", "operations"), CASES)
def test_the_third_pass_writes_nothing(
    live: NamespaceClient, mutate: Callable[[Manifest], None], operations: Sequence[str]
) -> None:
    live.create(all_kinds_cluster.resource())
    with mutating(live, mutate, operations=operations):
        assert [each.message for each in one_pass(live, NAME).plan.findings] == []
        if operations == ALWAYS:
            one_pass(live, NAME)
            quiet_pass(live)
        until_ready(live, NAME)
        before = uids(live)
        quiet_pass(live)
        assert condition(live.get("Druid", NAME), "Ready")["status"] == "True"
        # What the resource changes still arrives.
        live.merge("Druid", NAME, {"spec": {"image": "apache/druid:36.0.0"}})
        until_ready(live, NAME)
        for kind, name in (("StatefulSet", SET), ("Deployment", "druid-wiki-brokers")):
            image = live.get(kind, name)["spec"]["template"]["spec"]["containers"][0]["image"]
            assert image.removeprefix(MIRROR) == "apache/druid:36.0.0"
        eventually(lambda: not one_pass(live, NAME).changed)
        quiet_pass(live)
        after = uids(live)
        replaced = {key for key, uid in before.items() if after.get(key) != uid}
        assert replaced == {key for key in before if key[0] == "Pod"}
        warnings = quiet_pass(live).warnings
        assert any(OVERRIDDEN_REPLICAS in text for text in warnings) == (mutate is not add and operations == ALWAYS)


def test_a_takeover_recreates_nothing(golden: NamespaceClient) -> None:
    """The objects of the Go operator have passed the webhook, too."""
    with mutating(golden, add):
        before = GoOperator(golden, "hand").run().settled()
        assert golden.list("StatefulSet")[0]["spec"]["template"]["metadata"]["labels"]["policy"] == "seen"
        first, second = one_pass(golden, "hand"), one_pass(golden, "hand")
        assert [
            step.title for step in first.plan.steps if step.restart.is_requested or step.operation.verb == "recreate"
        ] == []
        assert [step.title for step in second.plan.steps] == []
        assert (first.plan.findings, second.plan.findings) == ((), ())
        after = identities(golden)
        assert {key: uid for key, (uid, _generation) in after.items() if key in before} == {
            key: uid for key, (uid, _generation) in before.items()
        }


def test_annotations_of_admission_stay_on_pvcs(live: NamespaceClient) -> None:
    """They have reached the PVC by the template; what the resource specifies is removed from it."""
    annotated = resource_with_claim(annotations={"mine": "yes"})
    live.create(annotated)
    with mutating(live, add):
        until_ready(live, NAME)
        data = uids(live)
        before = live.get("PersistentVolumeClaim", CLAIM)["metadata"]["annotations"]
        assert (before["policy"], before["mine"]) == ("seen", "yes")
        live.merge("Druid", NAME, {"spec": resource_with_claim(annotations={})["spec"]})
        planned = plan_output.lines(one_pass(live, NAME, check_mode=True).plan)
        assert f"update PersistentVolumeClaim {CLAIM} (remove annotation mine)" in planned
        until_ready(live, NAME)
        after = live.get("PersistentVolumeClaim", CLAIM)["metadata"]["annotations"]
        assert before.keys() - after.keys() == {"mine"}
        eventually(lambda: not one_pass(live, NAME).changed)
        recreated = {key for key, uid in uids(live).items() if data.get(key) != uid}
        assert recreated == {("StatefulSet", SET)}


def resource_with_claim(**metadata: Any) -> Manifest:
    """Return the resource, whose claim template has this metadata."""
    resource = all_kinds_cluster.resource()
    [claim] = resource["spec"]["nodes"]["data"]["volumeClaimTemplates"]
    claim["metadata"].update(metadata)
    return resource
