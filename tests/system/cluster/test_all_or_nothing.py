# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""If one object of a group would be rejected, none of the group is written; other groups are.

An object on which nothing depends is rejected alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS
from ansible_collections.druidops.druid.tests.system.support import full_cluster
from ansible_collections.druidops.druid.tests.system.support.admission import WORDS, limit, no_limit, refusing
from ansible_collections.druidops.druid.tests.system.support.campaign import only_first
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.full_cluster import (
    NAME,
    STATEFUL,
    STATELESS,
    claim_template,
)
from ansible_collections.druidops.druid.tests.system.support.go_operator import identities
from ansible_collections.druidops.druid.tests.system.support.in_process import (
    cluster_request,
    connection,
    one_pass,
    run,
)
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from ansible_collections.druidops.druid.tests.system.support.permissions import grant
from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible

CLAIM = "extra"
UNIQUE_NAMES = {"historicals": STATEFUL, "brokers": STATELESS}
# Each kind of object with a name and its group.
OTHERS = "the same for objects of other kinds"
REFUSED = [
    ("StatefulSet", STATEFUL, "historicals"),
    ("ConfigMap", f"{STATEFUL}-config", "historicals"),
    ("Service", STATEFUL, "historicals"),
    ("Service", f"{STATEFUL}-api", "historicals"),
    ("PersistentVolumeClaim", CLAIM, "historicals"),
    ("Deployment", STATELESS, "brokers"),
]
LEAVES = [
    ("PodDisruptionBudget", STATEFUL, "historicals"),
    ("Ingress", STATELESS, "brokers"),
    ("HorizontalPodAutoscaler", STATELESS, "brokers"),
]


def create(live: NamespaceClient, **more: Any) -> None:
    """Create the resource: with objects of all kinds in its two groups."""
    historicals = full_cluster.historicals(persistentVolumeClaim=[claim_template(CLAIM)], **more)
    full_cluster.create(live, historicals=historicals, brokers=full_cluster.brokers())


def change_everything(live: NamespaceClient) -> None:
    """Change every object except PVCs."""
    brokers = {"runtime.properties": "new=1", "ingressAnnotations": {"a": "b"}, "hpAutoscaler": {"maxReplicas": 8}}
    nodes = {"historicals": {"replicas": 2}, "brokers": brokers}
    live.merge("Druid", NAME, {"spec": {"podLabels": {"new": "label"}, "nodes": nodes}})


def objects_of(live: NamespaceClient, group: str) -> dict[tuple[str, str], str]:
    """Return the versions of the objects of a group, without PVCs of its pods and status of controllers."""
    unique_name = UNIQUE_NAMES[group]
    names = {unique_name, f"{unique_name}-config", f"{unique_name}-api", *([CLAIM] if group == "historicals" else [])}
    keys = [key for key in live.created_objects() if key[1] in names]
    return {key: str(full_cluster.essence(live.get(*key))) for key in keys}


def persisting(live: NamespaceClient, mark: Any, group: str) -> list[str]:
    """Return what was really sent to be written of a group."""
    writes = [write for write in live.writes(mark) if not write.dry_run and write.resource != "events"]
    own = (UNIQUE_NAMES[group], CLAIM) if group == "historicals" else (UNIQUE_NAMES[group],)
    return [f"{write.verb} {write.resource} {write.name}" for write in writes if write.name.startswith(own)]


def assert_blocked(live: NamespaceClient, kind: str, name: str, group: str, *words: str) -> None:
    """One reconcile writes nothing of the group, reports why, and applies the others."""
    other = next(key for key in UNIQUE_NAMES if key != group)
    before, others_before = objects_of(live, group), objects_of(live, other)
    mark = live.mark()
    outcome = one_pass(live, NAME)
    assert [(finding.reason, finding.group) for finding in outcome.plan.findings] == [("RejectedByAPIServer", group)]
    assert persisting(live, mark, group) == []
    assert objects_of(live, group) == before
    assert objects_of(live, other) != others_before
    degraded = condition(live.get("Druid", NAME), "Degraded")
    assert (degraded["status"], degraded["reason"]) == ("True", "RejectedByAPIServer")
    for text in (f"{kind} {name}", f"Nothing of group {group} is changed.", *words):
        assert text in degraded["message"]


@pytest.mark.parametrize(("kind", "name", "group"), only_first(2, REFUSED, OTHERS))
def test_policy_rejects_one_object_of_a_new_group(live: NamespaceClient, kind: str, name: str, group: str) -> None:
    create(live)
    with refusing(live, kind, name):
        assert_blocked(live, kind, name, group, WORDS)
        assert objects_of(live, group) == {}
    assert one_pass(live, NAME).plan.findings == ()
    assert (kind, name) in objects_of(live, group)
    assert condition(live.get("Druid", NAME), "Degraded")["status"] == "False"


def assert_blocked_alone(live: NamespaceClient, kind: str, name: str, group: str, *words: str) -> None:
    """One reconcile writes all other objects, and reports why the object is not written."""
    mark = live.mark()
    outcome = one_pass(live, NAME)
    [finding] = outcome.plan.findings
    assert (finding.reason, finding.group, finding.object) == ("RejectedByAPIServer", group, f"{kind} {name}")
    plural = KINDS[kind].plural
    assert [write for write in persisting(live, mark, group) if f" {plural} " in write] == []
    degraded = condition(live.get("Druid", NAME), "Degraded")
    assert (degraded["status"], degraded["reason"]) == ("True", "RejectedByAPIServer")
    for text in (f"{kind} {name}", "It blocks no other object.", *words):
        assert text in degraded["message"]
    # Nothing else is left to write, in either group.
    assert one_pass(live, NAME).plan.steps == ()


@pytest.mark.parametrize(("kind", "name", "group"), only_first(1, LEAVES, OTHERS))
def test_an_object_on_which_nothing_depends_is_blocked_alone(
    live: NamespaceClient, kind: str, name: str, group: str
) -> None:
    create(live)
    with refusing(live, kind, name):
        assert_blocked_alone(live, kind, name, group, WORDS)
        assert (kind, name) not in objects_of(live, group)
        assert {each for each, _name in objects_of(live, group)} >= {"ConfigMap", "Service"}
        assert live.find("StatefulSet", STATEFUL)
        assert live.find("Deployment", STATELESS)
    assert one_pass(live, NAME).plan.findings == ()
    assert (kind, name) in objects_of(live, group)
    with refusing(live, kind, name):
        before = live.get(kind, name)["spec"]
        change_everything(live)
        assert_blocked_alone(live, kind, name, group, WORDS)
        assert live.get(kind, name)["spec"] == before
    assert one_pass(live, NAME).plan.findings == ()
    assert one_pass(live, NAME).plan.steps == ()


CHANGED = [each for each in REFUSED if each[0] in ("ConfigMap", "StatefulSet")]


@pytest.mark.parametrize(("kind", "name", "group"), only_first(1, CHANGED, OTHERS))
def test_policy_rejects_the_change_of_one_object(live: NamespaceClient, kind: str, name: str, group: str) -> None:
    create(live)
    assert one_pass(live, NAME).plan.findings == ()
    with refusing(live, kind, name):
        change_everything(live)
        assert_blocked(live, kind, name, group, WORDS)
    assert one_pass(live, NAME).plan.findings == ()
    assert one_pass(live, NAME).plan.steps == ()


@pytest.mark.parametrize("is_new", [True, False], ids=["new", "running"])
def test_a_field_is_invalid(live: NamespaceClient, is_new: bool) -> None:
    """The server names the field, and so does the condition."""
    other_user = {"runAsUser": -1}
    brokers = {"brokers": full_cluster.brokers(**({"securityContext": other_user} if is_new else {}))}
    full_cluster.create(live, historicals=full_cluster.historicals(), **brokers)
    if not is_new:
        assert one_pass(live, NAME).plan.findings == ()
        change_everything(live)
        live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": {"securityContext": other_user}}}})
    words = ("spec.template.spec.securityContext.runAsUser", "must be between 0 and")
    # not a StatefulSet: before Kubernetes 1.31 its template is not validated
    assert_blocked(live, "Deployment", STATELESS, "brokers", *words)


def test_a_field_is_immutable(live: NamespaceClient) -> None:
    create(live)
    assert one_pass(live, NAME).plan.findings == ()
    config_map = f"{STATELESS}-config"
    live.merge("ConfigMap", config_map, {"immutable": True})
    change_everything(live)
    assert_blocked(live, "ConfigMap", config_map, "brokers", "data: Forbidden: field is immutable")


def test_quota_rejects_only_the_autoscaler(live: NamespaceClient) -> None:
    limit(live, "count/horizontalpodautoscalers.autoscaling", 0)
    create(live)
    words = ("exceeded quota: limit", "count/horizontalpodautoscalers.autoscaling=1")
    assert_blocked_alone(live, "HorizontalPodAutoscaler", STATELESS, "brokers", *words)


class Sum(NamedTuple):
    """A quota with room for each new object but not for all, and the group that exceeds it."""

    what: str
    amount: str
    group: str
    kind: str
    name: str
    requested: str
    used: str


SUMS = [
    Sum("count/services", "1", "historicals", "Service", f"{STATEFUL}-api", "1", "1"),
    Sum("services", "2", "brokers", "Service", STATELESS, "1", "2"),
    Sum("count/configmaps", "3", "brokers", "ConfigMap", f"{STATELESS}-config", "1", "3"),
    Sum("persistentvolumeclaims", "1", "historicals", "PersistentVolumeClaim", "more", "1", "1"),
    Sum("requests.storage", "3Gi", "historicals", "PersistentVolumeClaim", "more", "2Gi", "2Gi"),
]


@pytest.mark.parametrize("quota", only_first(2, SUMS, "the same for two other quotas"), ids=lambda quota: quota.what)
def test_quota_that_only_the_sum_exceeds(live: NamespaceClient, quota: Sum) -> None:
    """Each object passes its dry run; the first groups get what is left."""
    limit(live, quota.what, quota.amount)
    claims = [claim_template(CLAIM, "2Gi"), claim_template("more", "2Gi")]
    full_cluster.create(
        live, historicals=full_cluster.historicals(persistentVolumeClaim=claims), brokers=full_cluster.brokers()
    )
    words = (
        f"exceeded quota: limit, requested: {quota.what}={quota.requested}, used: {quota.what}={quota.used}, "
        f"limited: {quota.what}={quota.amount}"
    )
    assert_blocked(live, quota.kind, quota.name, quota.group, words)
    assert objects_of(live, quota.group) == {}
    no_limit(live)
    eventually(lambda: one_pass(live, NAME).plan.findings == ())
    assert (quota.kind, quota.name) in live.created_objects()
    assert one_pass(live, NAME).plan.steps == ()


def test_quota_that_only_the_sum_of_leaves_exceeds(live: NamespaceClient) -> None:
    limit(live, "count/poddisruptionbudgets.policy", 1)
    create(live)
    assert_blocked_alone(live, "PodDisruptionBudget", STATELESS, "brokers", "exceeded quota: limit")
    assert live.find("Deployment", STATELESS)
    no_limit(live)
    eventually(lambda: one_pass(live, NAME).plan.findings == ())
    assert live.find("PodDisruptionBudget", STATELESS)


def test_quota_that_only_the_sum_of_a_change_exceeds(live: NamespaceClient) -> None:
    create(live)
    one_pass(live, NAME)
    limit(live, "services.nodeports", 1)
    services = [{"spec": {"type": "NodePort"}}, {"metadata": {"name": "%s-b"}, "spec": {"type": "NodePort"}}]
    change_everything(live)
    live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": {"services": services}}}})
    words = "requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1"
    assert_blocked(live, "Service", f"{STATELESS}-b", "brokers", words)


def test_quotas_are_read_only_for_a_sum(live: NamespaceClient) -> None:
    changes: list[tuple[Callable[[], object], int]] = [
        (lambda: create(live), 1),
        (lambda: None, 0),
        (lambda: live.delete("Service", STATEFUL), 0),
    ]
    for change, reads in changes:
        change()
        mark = live.mark()
        assert one_pass(live, NAME).plan.findings == ()
        assert len([each for each in live.requests(mark) if each.resource == "resourcequotas"]) == reads


EVERYTHING_BUT_QUOTAS = [
    {"apiGroups": [""], "resources": ["configmaps", "services", "persistentvolumeclaims", "events"], "verbs": ["*"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    {"apiGroups": ["apps", "networking.k8s.io", "policy", "autoscaling"], "resources": ["*"], "verbs": ["*"]},
    {"apiGroups": ["druid.apache.org"], "resources": ["druids", "druids/status"], "verbs": ["*"]},
]


def test_quotas_without_read_permission_are_not_predicted(live: NamespaceClient) -> None:
    """Then the group is written up to the object that is rejected."""
    limit(live, "count/services", 1)
    create(live)
    grant(live, *EVERYTHING_BUT_QUOTAS)
    outcome = run(connection(live, "limited"), cluster_request(NAME, live.namespace), lambda _text: None, Clock())
    assert outcome.report is not None
    problems = {(problem.reason, problem.group) for problem in outcome.report.problems}
    assert problems == {("ApplyFailed", "historicals"), ("ApplyFailed", "brokers")}
    assert "exceeded quota: limit" in condition(live.get("Druid", NAME), "Degraded")["message"]
    assert live.find("StatefulSet", STATEFUL) is None
    [warning] = outcome.warnings
    assert "list on resourcequotas" in warning
    no_limit(live)
    eventually(lambda: one_pass(live, NAME).plan.findings == ())
    assert live.find("StatefulSet", STATEFUL) is not None
    assert one_pass(live, NAME).plan.steps == ()


def test_shared_object_blocks_all_groups(live: NamespaceClient) -> None:
    create(live)
    with refusing(live, "ConfigMap", f"{NAME}-druid-common-config"):
        mark = live.mark()
        outcome = one_pass(live, NAME)
        assert [(finding.reason, finding.group) for finding in outcome.plan.findings] == [("RejectedByAPIServer", None)]
        assert persisting(live, mark, "historicals") == persisting(live, mark, "brokers") == []
        assert live.created_objects() == set()


def test_check_mode_predicts_the_rejection(live: NamespaceClient) -> None:
    create(live)
    before = identities(live)
    with refusing(live, "StatefulSet", STATEFUL):
        mark = live.mark()
        outcome = one_pass(live, NAME, check_mode=True)
        assert [(finding.reason, finding.group) for finding in outcome.plan.findings] == [
            ("RejectedByAPIServer", "historicals")
        ]
        assert {step.group for step in outcome.plan.steps} == {None, "brokers"}
        assert [write for write in live.writes(mark) if not write.dry_run] == []
        assert identities(live) == before


def test_playbook_fails_after_reporting(live: NamespaceClient, ansible: Ansible) -> None:
    create(live)
    with refusing(live, "StatefulSet", STATEFUL):
        run = ansible.cluster(NAME, status=2)
    degraded = condition(live.get("Druid", NAME), "Degraded")
    assert (degraded["status"], degraded["reason"]) == ("True", "RejectedByAPIServer")
    assert WORDS in degraded["message"]
    printed = " ".join(run.output.split())
    assert degraded["message"].replace('"', '\\"') in printed or degraded["message"] in printed
    assert objects_of(live, "historicals") == {}
    assert ("Deployment", STATELESS) in objects_of(live, "brokers")
