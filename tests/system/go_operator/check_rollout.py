# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A migration in the middle of the Go operator's rollout: the rollout continues, and no pod restarts twice."""

from __future__ import annotations

from ansible_collections.druidops.druid.tests.system.support import go_cluster, small_cluster
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from testbed.go_operator import GoOperatorProgram

NAME = "c"
NEW = "apache/druid:99.0.0"
SETS = [f"druid-{NAME}-{key}" for key in small_cluster.KEYS]


def images(live: NamespaceClient) -> dict[str, tuple[str, str]]:
    """Return image and uid of each pod that is not being deleted, by name."""
    found = (each for each in live.list("Pod") if not each["metadata"].get("deletionTimestamp"))
    return {
        each["metadata"]["name"]: (each["spec"]["containers"][0]["image"], each["metadata"]["uid"]) for each in found
    }


def is_available(live: NamespaceClient, name: str) -> bool:
    return bool((live.find("StatefulSet", name) or {}).get("status", {}).get("readyReplicas", 0) == 2)


def test_a_rollout_of_the_go_operator_is_continued(live: NamespaceClient, go_operator: GoOperatorProgram) -> None:
    live.create(go_cluster.resource(NAME, replicas=2))
    go_operator.start()
    eventually(lambda: all(is_available(live, name) for name in SETS), otherwise=lambda: go_operator.log[-3000:])
    before = images(live)

    live.merge("Druid", NAME, {"spec": {"image": NEW, "rollingDeploy": True}})
    eventually(lambda: NEW in str(images(live)), otherwise=lambda: go_operator.log[-3000:])
    go_operator.kill()
    live.merge("Druid", NAME, {"metadata": {"annotations": {"druid.apache.org/take-over": "true"}}})
    halfway = images(live)
    assert any(image != NEW for image, _uid in halfway.values())

    def is_ready() -> bool:
        outcome = one_pass(live, NAME)
        assert outcome.plan.findings == ()
        assert len(outcome.plan.restarts) <= 1
        return condition(live.get("Druid", NAME), "Ready")["status"] == "True"

    eventually(is_ready)
    after = images(live)
    assert {image for image, _uid in after.values()} == {NEW}
    assert not {uid for _image, uid in before.values()} & {uid for _image, uid in after.values()}
    updated = {name: pod for name, pod in halfway.items() if pod[0] == NEW}
    assert {name: after[name] for name in updated} == updated
    assert one_pass(live, NAME).plan.steps == ()
