# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A group under another name is a new group: what has served until now stays until the new one has been written."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.tests.system.support import full_cluster
from ansible_collections.druidops.druid.tests.system.support.admission import WORDS, limit, no_limit, refusing
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.fault_proxy import Fault, FaultProxy
from ansible_collections.druidops.druid.tests.system.support.full_cluster import NAME, STATEFUL
from ansible_collections.druidops.druid.tests.system.support.in_process import cluster_request, one_pass, run
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition

POD = f"{STATEFUL}-0"
CLAIM = f"data-{POD}"
NEW = f"druid-{NAME}-archive"
SELECTED = {"theirs": "yes"}
TEMPLATE = {"metadata": {"labels": SELECTED}, "spec": {"containers": [{"name": "theirs", "image": "example.com/x"}]}}
THEIRS = {
    "kind": "StatefulSet",
    "metadata": {"name": NEW},
    "spec": {"selector": {"matchLabels": SELECTED}, "template": TEMPLATE, "replicas": 0, "serviceName": "theirs"},
}


@pytest.fixture
def renamed(live: NamespaceClient) -> NamespaceClient:
    """A cluster whose pod runs, and whose resource has its only group under another name."""
    full_cluster.create(live, historicals=full_cluster.historicals(replicas=1))
    assert one_pass(live, NAME).plan.findings == ()
    eventually(lambda: live.find("Pod", POD))
    nodes = {"historicals": None, "archive": full_cluster.historicals(replicas=1)}
    live.merge("Druid", NAME, {"spec": {"nodes": nodes}})
    return live


def assert_stays(live: NamespaceClient, *words: str) -> None:
    """One reconcile keeps all objects in service, and reports this and the reason."""
    before = {key for key in live.created_objects() if NEW not in key[1]}
    pod = live.get("Pod", POD)["metadata"]
    one_pass(live, NAME, check_mode=True)
    outcome = one_pass(live, NAME)
    assert before <= live.created_objects()
    after = live.get("Pod", POD)["metadata"]
    assert (after["uid"], after.get("deletionTimestamp")) == (pod["uid"], None)
    assert [
        step.key for step in outcome.plan.steps if step.operation.verb == "delete" and step.key.name == STATEFUL
    ] == []
    message = condition(live.get("Druid", NAME), "Degraded")["message"]
    for text in (f"StatefulSet {STATEFUL}: group historicals was removed from the spec.", *words):
        assert text in message


def assert_deleted(live: NamespaceClient) -> None:
    """Once nothing blocks, the old one is deleted; its PVCs are data and are kept."""
    eventually(lambda: one_pass(live, NAME).plan.findings == () and live.find("StatefulSet", STATEFUL) is None)
    assert live.find("StatefulSet", NEW)
    assert live.find("Service", STATEFUL) is None
    assert live.find("PersistentVolumeClaim", CLAIM)
    assert condition(live.get("Druid", NAME), "Degraded")["status"] == "False"
    assert one_pass(live, NAME).plan.steps == ()


def test_is_removed_together_with_its_replacement(renamed: NamespaceClient) -> None:
    assert_deleted(renamed)


def test_policy_rejects_the_new_group(renamed: NamespaceClient) -> None:
    with refusing(renamed, "StatefulSet", NEW):
        assert_stays(renamed, WORDS)
    assert_deleted(renamed)


def test_quota_rejects_the_new_group(renamed: NamespaceClient) -> None:
    limit(renamed, "count/statefulsets.apps", 1)
    assert_stays(renamed, "exceeded quota: limit")
    no_limit(renamed)
    assert_deleted(renamed)


def test_new_name_conflicts(renamed: NamespaceClient) -> None:
    renamed.create(THEIRS)
    assert_stays(renamed, f"StatefulSet {NEW} exists and does not belong to this cluster")
    renamed.delete("StatefulSet", NEW)
    assert_deleted(renamed)


def test_quota_rejects_part_of_the_new_group(renamed: NamespaceClient) -> None:
    """Each object passes its dry run; the second Service would exceed the quota."""
    limit(renamed, "count/services", len(renamed.names("Service")) + 1)
    assert_stays(renamed, "exceeded quota: limit")
    assert not any(NEW in name for _kind, name in renamed.created_objects())
    no_limit(renamed)
    assert_deleted(renamed)


def test_new_group_cannot_be_written(renamed: NamespaceClient, proxy: FaultProxy) -> None:
    """Each object passes its dry run; then the first of them cannot be written."""
    before = renamed.get("StatefulSet", STATEFUL)["metadata"]["uid"]
    proxy.expect(fault=Fault.SERVER_ERROR, sort="PATCH apply-patch object")
    outcome = run(proxy.api(), cluster_request(NAME, renamed.namespace), lambda _text: None, Clock())
    assert outcome.report is not None
    assert {problem.reason for problem in outcome.report.problems} == {"ApplyFailed"}
    assert renamed.get("StatefulSet", STATEFUL)["metadata"]["uid"] == before
    assert renamed.find("Pod", POD)
    assert condition(renamed.get("Druid", NAME), "Degraded")["reason"] == "ApplyFailed"
    assert_deleted(renamed)
