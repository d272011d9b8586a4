# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixed histories, one per way in which data, pods or addresses were lost once."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.tests.simulator.specification import NEW_IMAGE, OLD_IMAGE, Cluster, Group
from ansible_collections.druidops.druid.tests.unit.simulator.actions import (
    Controllers,
    Converge,
    Create,
    Delete,
    Edit,
    Event,
    ForeignAutoscaler,
    Meanwhile,
    Outdated,
    Prune,
    Rename,
    Run,
    Specify,
)
from ansible_collections.druidops.druid.tests.unit.simulator.environment import Break, DeletePod
from ansible_collections.druidops.druid.tests.unit.simulator.invariants import Observer
from ansible_collections.druidops.druid.tests.unit.simulator.subject import By

DELETES = Cluster({"brokers": Group(when_scaled="Delete", when_deleted="Delete"), "historicals": Group()})
AUTOSCALED = Cluster({"brokers": Group(replicas=1, when_scaled="Delete", autoscaler=(3, 5))})
STANDALONE = Cluster({"brokers": Group(has_standalone_claim=True)})

HISTORIES: dict[str, tuple[Cluster, list[Event]]] = {
    "a stopped group retains its PVCs": (DELETES, [Edit("stopped", True), Converge(), Edit("stopped", False)]),
    "a stopped autoscaled group": (AUTOSCALED, [Edit("stopped", True), Converge(), Edit("stopped", False)]),
    "stopped in the middle of a resumption": (
        DELETES,
        [Edit("stopped", True), Converge(), Edit("stopped", False), Run(), Edit("stopped", True)],
    ),
    "the flag overrides whenDeleted": (DELETES, [Edit("keeps_pvcs", True), Converge()]),
    "the flag, and the resource goes at once": (DELETES, [Edit("keeps_pvcs", True), Converge(), Delete()]),
    "playbook and operator in turns with the flag": (
        DELETES,
        [Edit("keeps_pvcs", True), Run("operator"), Run("playbook"), Run("operator"), Run("playbook")],
    ),
    "a GitOps tool prunes": (STANDALONE, [Prune(), Converge(), Delete("Orphan"), Converge(), Prune()]),
    "a GitOps tool prunes what a deletion with --cascade=orphan has left": (
        DELETES,
        [Delete("Orphan"), Converge(), Prune(), Converge()],
    ),
    "the flag, and a GitOps tool prunes what a deletion with --cascade=orphan has left": (
        DELETES,
        [Edit("keeps_pvcs", True), Delete("Orphan"), Converge(), Prune(), Converge()],
    ),
    "a renamed group that retains its PVCs": (Cluster(), [Rename("brokers", "brokers-hot"), Converge()]),
    "another kind": (DELETES, [Edit("kind", "Deployment", "brokers"), Converge()]),
    "deleted by --cascade=orphan, and pruned before the finalizer runs": (
        Cluster({"brokers": Group(when_scaled="Delete", replicas=3)}),
        [Delete("Orphan"), Controllers(3), Prune()],
    ),
    "deleted by --cascade=orphan, and created again": (DELETES, [Delete("Orphan"), Converge(), Create(DELETES)]),
    "stopped between two requests of a reconcile": (
        Cluster(),
        [
            Edit("when_scaled", "Delete", "brokers"),
            *(Meanwhile(n, Edit("stopped", n % 2 == 0)) for n in range(8, 40, 4)),
        ],
    ),
    "a foreign autoscaler goes": (
        DELETES,
        [ForeignAutoscaler("brokers", (3, 5)), Converge(), ForeignAutoscaler("brokers", None)],
    ),
    "the flag, while a group is stopped": (
        Cluster({"brokers": Group(when_deleted="Delete"), "historicals": Group()}),
        [Edit("stopped", True, "brokers"), Converge(), Edit("keeps_pvcs", True)],
    ),
    "the flag, after a scale-down": (
        Cluster({"brokers": Group(when_deleted="Delete"), "historicals": Group()}),
        [Edit("replicas", 1, "brokers"), Converge(), Edit("keeps_pvcs", True)],
    ),
    "whenDeleted Retain, while a group is stopped": (
        Cluster({"brokers": Group(when_deleted="Delete"), "historicals": Group()}),
        [Edit("stopped", True, "brokers"), Converge(), Edit("when_deleted", "Retain", "brokers"), Rename("brokers")],
    ),
    "the flag, and one run before the resource goes at once": (
        Cluster({"brokers": Group(when_deleted="Delete"), "historicals": Group()}),
        [
            Edit("stopped", True, "brokers"),
            Converge(),
            Edit("keeps_pvcs", True),
            Run("playbook"),
            Delete("Foreground"),
        ],
    ),
    "another name of the first Service": (
        Cluster(),
        [Edit("service", "%s-b", "brokers"), Converge(), Edit("image", NEW_IMAGE), Converge()],
    ),
    "another claim template, and other names": (
        Cluster(rolls=True),
        [
            Edit("has_more_claims", True, "brokers"),
            Edit("service", "%s-b", "historicals"),
            Edit("image", NEW_IMAGE),
            *(each for _time in range(4) for each in (Run(), Controllers(3))),
            Edit("service", "%s-b", "brokers"),
            Converge(),
        ],
    ),
    "reconciled while a workload still counts the pod that was evicted last": (
        Cluster(rolls=True),
        [
            Edit("has_more_claims", True, "brokers"),
            *(each for _time in range(9) for each in (Run(), Run(), Controllers(1))),
            Converge(),
        ],
    ),
    "reconciled while a workload still counts a pod that a user has deleted": (
        Cluster({"brokers": Group(kind="Deployment"), "historicals": Group()}),
        [each for group in ("brokers", "historicals") for each in (DeletePod(group, 0), Run(), Converge())],
    ),
    "a pod of an old revision that fits on no node": (
        Cluster({"brokers": Group(management="OrderedReady", replicas=3)}, rolls=True),
        [
            Break(NEW_IMAGE, "no node"),
            Edit("image", NEW_IMAGE),
            *(each for _time in range(3) for each in (Run(), Controllers(3))),
            Edit("image", OLD_IMAGE),
            Converge(),
        ],
    ),
    "several failing pods that are not needed any more": (
        Cluster({"brokers": Group(management="OrderedReady", replicas=4)}, rolls=True),
        [
            Break(OLD_IMAGE, "crashing"),
            Controllers(2),
            Edit("image", NEW_IMAGE),
            Edit("replicas", 1, "brokers"),
            Converge(),
        ],
    ),
    "update strategies that have kept pods of an old revision": (
        Cluster({"brokers": Group(partition=2), "historicals": Group(strategy="OnDelete")}, rolls=True),
        [
            Edit("image", NEW_IMAGE),
            Converge(),
            Edit("partition", 0, "brokers"),
            Edit("strategy", "RollingUpdate", "historicals"),
            Run(),
            Controllers(1),
            Run(),
            Converge(),
        ],
    ),
    "another claim template, one by one": (
        Cluster({"brokers": Group(management="OrderedReady", replicas=3)}, rolls=True),
        [
            Edit("has_more_claims", True, "brokers"),
            *(each for _time in range(4) for each in (Run(), Controllers(2))),
            Break(OLD_IMAGE),
            *(each for _time in range(4) for each in (Run(), Controllers(2))),
            Break(),
            Converge(),
        ],
    ),
    "another claim template, and a partition meanwhile": (
        Cluster({"brokers": Group(replicas=3)}),
        [
            Edit("has_more_claims", True, "brokers"),
            *(each for _time in range(3) for each in (Run(), Controllers(2))),
            Edit("partition", 2, "brokers"),
            *(each for _time in range(3) for each in (Run(), Controllers(2))),
            Edit("partition", 0, "brokers"),
            Converge(),
        ],
    ),
    "another name of the first Service, while no pod runs": (
        Cluster(),
        [Edit("stopped", True), Converge(), Edit("service", "%s-b", "brokers"), Converge(), Edit("stopped", False)],
    ),
    "another name of the first Service, between two requests": (
        Cluster(),
        [
            Edit("service", "%s-b", "brokers"),
            *(Meanwhile(n, Edit("service", "%s" if n % 4 else "%s-b", "brokers")) for n in range(8, 30, 2)),
        ],
    ),
    "deleted, and created again at once with another name of the first Service": (
        Cluster({"historicals": Group(service="%s-b")}, keeps_pvcs=True),
        [Delete(), Run("playbook"), Create()],
    ),
    "a slow reconcile of an earlier number of replicas": (
        DELETES,
        [
            Edit("replicas", 1, "brokers"),
            Converge(),
            Edit("replicas", 3, "brokers"),
            Converge(),
            Outdated(1),
            Controllers(20),
        ],
    ),
    "a slow reconcile of an earlier spec without the group": (
        DELETES,
        [
            Rename("brokers"),
            Converge(),
            Specify(DELETES),
            Converge(),
            Outdated(1),
        ],
    ),
    "replicas unset": (Cluster(), [Edit("replicas", None, "brokers")]),
    "replicas unset, where a scale-down deletes PVCs": (DELETES, [Edit("replicas", None, "brokers")]),
    "an own autoscaler goes, and replicas are not set": (
        Cluster({"brokers": Group(autoscaler=(3, 5), replicas=None)}),
        [Edit("autoscaler", None, "brokers")],
    ),
    "replicas unset for a foreign autoscaler": (
        Cluster(),
        [Edit("replicas", None, "brokers"), ForeignAutoscaler("brokers", (3, 5))],
    ),
    "a foreign autoscaler is absent for one reconcile, and replicas are not set": (
        Cluster({"brokers": Group(replicas=None, when_scaled="Delete")}),
        [
            ForeignAutoscaler("brokers", (3, 5)),
            Converge(),
            ForeignAutoscaler("brokers", None),
            Run(),
            ForeignAutoscaler("brokers", (3, 5)),
        ],
    ),
    "a foreign autoscaler is absent for one reconcile": (
        Cluster({"brokers": Group(when_scaled="Delete")}),
        [
            ForeignAutoscaler("brokers", (5, 6)),
            Converge(),
            ForeignAutoscaler("brokers", None),
            Run(),
            Controllers(6),
            ForeignAutoscaler("brokers", (5, 6)),
        ],
    ),
    "stopped and resumed without replicas": (
        Cluster({"brokers": Group(replicas=None)}),
        [
            ForeignAutoscaler("brokers", (3, 5)),
            Converge(),
            ForeignAutoscaler("brokers", None),
            Edit("stopped", True),
            Converge(),
            Edit("stopped", False),
        ],
    ),
    "stopped with replicas, resumed without": (
        Cluster(),
        [Edit("stopped", True), Converge(), Edit("replicas", None, "brokers"), Edit("stopped", False)],
    ),
    "another kind without replicas": (
        Cluster(),
        [Edit("replicas", None, "brokers"), Edit("kind", "Deployment", "brokers")],
    ),
}


@pytest.mark.parametrize("by", ["operator", "playbook"])
@pytest.mark.parametrize("history", HISTORIES)
def test_history(history: str, by: By) -> None:
    play(by, *HISTORIES[history])


def play(by: By, cluster: Cluster, actions: list[Event]) -> None:
    """Play a history of a converged cluster, and delete the cluster."""
    observer = Observer(by)
    observer.act(Create(cluster))
    observer.converge()
    observer.play(actions)
    observer.delete()
