# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A takeover in a namespace with a mutating webhook: nothing is recreated, and the third reconcile writes nothing."""

from __future__ import annotations

from ansible_collections.druidops.druid.tests.system.support import go_cluster, small_cluster
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.mutating_webhook import mutating
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
    without_status,
)
from testbed.go_operator import GoOperatorProgram

NAME = "c"
SETS = [f"druid-{NAME}-{key}" for key in small_cluster.KEYS]


def backup(live: Manifest) -> None:
    """Label each object, and have the volumes of each claim template backed up."""
    live["metadata"].setdefault("labels", {})["policy"] = "seen"
    for claim in live.get("spec", {}).get("volumeClaimTemplates") or ():
        claim["metadata"].setdefault("annotations", {})["backup"] = "daily"


def uids(live: NamespaceClient) -> dict[str, str]:
    kinds = ("StatefulSet", "Pod", "PersistentVolumeClaim")
    return {f"{kind} {each['metadata']['name']}": each["metadata"]["uid"] for kind in kinds for each in live.list(kind)}


def test_a_takeover_with_a_mutating_webhook(live: NamespaceClient, go_operator: GoOperatorProgram) -> None:
    live.create(go_cluster.resource(NAME, replicas=2))
    with mutating(live, backup):
        go_operator.start()

        def is_available(name: str) -> bool:
            return bool((live.find("StatefulSet", name) or {}).get("status", {}).get("readyReplicas", 0) == 2)

        eventually(lambda: all(map(is_available, SETS)), otherwise=lambda: go_operator.log[-3000:])
        go_operator.kill()
        before = uids(live)
        live.merge("Druid", NAME, {"metadata": {"annotations": {"druid.apache.org/take-over": "true"}}})
        for _number in range(2):
            assert one_pass(live, NAME).plan.findings == ()
        mark = live.mark()
        assert one_pass(live, NAME).plan.steps == ()
        assert [write for write in without_status(live.writes(mark)) if "dry run" not in write] == []
        assert uids(live) == before
        eventually(lambda: one_pass(live, NAME) and condition(live.get("Druid", NAME), "Ready")["status"] == "True")
        claims = live.list("PersistentVolumeClaim")
        assert [each["metadata"]["annotations"]["backup"] for each in claims] == ["daily"] * 4
