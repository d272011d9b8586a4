# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The size of PVCs in the specification: less than the current size is rejected, and can be reverted."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.tests.system.support import full_cluster
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.full_cluster import NAME, STATEFUL, claim_template
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition

CLAIM = f"data-{STATEFUL}-0"


@pytest.fixture(params=[True, False], ids=["labels", "no labels"])
def cluster(live: NamespaceClient, request: pytest.FixtureRequest) -> NamespaceClient:
    """A cluster whose PVC is bound; a user has removed its labels, or not."""
    full_cluster.create(live, historicals=full_cluster.historicals(replicas=1))
    assert one_pass(live, NAME).plan.findings == ()
    eventually(lambda: (live.find("PersistentVolumeClaim", CLAIM) or {}).get("status", {}).get("phase") == "Bound")
    if not request.param:
        live.merge("PersistentVolumeClaim", CLAIM, {"metadata": {"labels": None}})
    return live


def ask_for(live: NamespaceClient, storage: str) -> None:
    """Change the size in the resource."""
    templates = [claim_template(storage=storage)]
    live.merge("Druid", NAME, {"spec": {"nodes": {"historicals": {"volumeClaimTemplates": templates}}}})


def template(live: NamespaceClient) -> str:
    """Return the size of the next PVCs of the StatefulSet."""
    [found] = live.get("StatefulSet", STATEFUL)["spec"]["volumeClaimTemplates"]
    return str(found["spec"]["resources"]["requests"]["storage"])


def claim(live: NamespaceClient) -> tuple[str, str]:
    """Return identity and size of the PVC."""
    found = live.get("PersistentVolumeClaim", CLAIM)
    return found["metadata"]["uid"], found["spec"]["resources"]["requests"]["storage"]


def test_too_large_size_can_be_reverted(cluster: NamespaceClient) -> None:
    before = claim(cluster)
    for storage in ("10Ti", "2Gi", "1Gi"):
        ask_for(cluster, storage)
        assert one_pass(cluster, NAME).plan.findings == ()
        assert template(cluster) == storage
        assert one_pass(cluster, NAME).plan.steps == ()
        assert_warns_of_size(cluster, storage)
    assert claim(cluster) == before


def assert_warns_of_size(live: NamespaceClient, storage: str) -> None:
    """The condition names the PVC as long as it is smaller, and one event has reported it."""
    words = f"the spec requests {storage}, but these PVCs keep their size"
    conditions = {each["type"]: each["message"] for each in live.get("Druid", NAME)["status"]["conditions"]}
    events = [each for each in live.list("Event") if words in each["message"]]
    if storage == "1Gi":
        assert ("Warnings" in conditions, events) == (False, [])
    else:
        assert f"{words}, because scalePvcSts is false: {CLAIM} (1Gi)" in conditions["Warnings"]
        assert [(each["reason"], each["count"]) for each in events] == [("SpecWarning", 1)]


def test_pvc_does_not_shrink(cluster: NamespaceClient) -> None:
    before = claim(cluster)
    ask_for(cluster, "500Mi")
    [finding] = one_pass(cluster, NAME).plan.findings
    assert (finding.reason, finding.group) == ("InvalidSpec", "historicals")
    degraded = condition(cluster.get("Druid", NAME), "Degraded")
    assert degraded["status"] == "True"
    assert f"500Mi is less than the 1Gi of PVC {CLAIM}" in degraded["message"]
    assert template(cluster) == "1Gi"
    ask_for(cluster, "1Gi")
    assert one_pass(cluster, NAME).plan.findings == ()
    assert condition(cluster.get("Druid", NAME), "Degraded")["status"] == "False"
    assert one_pass(cluster, NAME).plan.steps == ()
    assert claim(cluster) == before
