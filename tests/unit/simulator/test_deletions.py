# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every deletion ends, whatever interrupts it; the PVCs are deleted, or retained when that is in doubt."""

from __future__ import annotations

from copy import deepcopy
from functools import cache

import pytest
from ansible_collections.druidops.druid.tests.simulator.specification import Cluster, Group
from ansible_collections.druidops.druid.tests.unit.simulator.actions import (
    Controllers,
    Create,
    Delete,
    Event,
    Meanwhile,
    Prune,
    Remove,
    Run,
)
from ansible_collections.druidops.druid.tests.unit.simulator.invariants import Observer
from ansible_collections.druidops.druid.tests.unit.simulator.subject import By, Fault

CLUSTER = Cluster({"brokers": Group(replicas=1, has_standalone_claim=True), "historicals": Group(replicas=1)})
BOTH: tuple[By, ...] = ("operator", "playbook")
FAULTS: tuple[Fault, ...] = ("killed before", "500")
# More requests than a deletion needs.
_REQUESTS = range(36)


def converged(by: By) -> Observer:
    return deepcopy(_converged(by))


@cache
def _converged(by: By) -> Observer:
    observer = Observer(by)
    observer.act(Create(CLUSTER))
    observer.converge()
    return observer


def end(observer: Observer) -> set[str]:
    """Let the deletion end; return the retained PVCs. The resource must be deleted, and nothing else may stay."""
    observer.converge()
    left = [live for live in observer.subject.world.store.objects.values() if live["kind"] not in _UNOWNED]
    assert not left
    return {*observer.claims()}


_UNOWNED = ("PersistentVolumeClaim", "Event", "ControllerRevision")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("by", BOTH)
def test_an_interrupted_deletion_continues(by: By, fault: Fault) -> None:
    for number in _REQUESTS:
        observer = converged(by)
        for action in (Delete(), Run(by, (number, fault)), Controllers(30)):
            observer.act(action)
        assert end(observer) == set()


@pytest.mark.parametrize("fault", FAULTS)
def test_an_interrupted_deletion_in_the_foreground_deletes_all_pvcs_or_none(fault: Fault) -> None:
    """Once the deletion is recorded, which precedes the deletion of workloads, it continues without any object."""
    for number in _REQUESTS:
        observer = converged("operator")
        claims = {*observer.claims()}
        for action in (Delete("Foreground"), Run("operator", (number, fault))):
            observer.act(action)
        live, remaining = observer.subject.live, {*observer.claims()}
        observer.act(Controllers(30))
        is_recorded = live is None or "druid.apache.org/deletes-pvcs" in (live["metadata"].get("annotations") or ())
        assert is_recorded or remaining == claims
        assert end(observer) == (set() if is_recorded else claims)


def test_a_deletion_in_the_foreground_that_ends_during_a_reconcile_deletes_all_pvcs() -> None:
    """Kubernetes removes its finalizer at any time, also before the deletion is recorded."""
    for number in _REQUESTS:
        observer = converged("operator")
        for action in (Delete("Foreground"), Meanwhile(number, Controllers(30))):
            observer.act(action)
        assert end(observer) == set(), number


@pytest.mark.parametrize("fault", FAULTS)
def test_an_interrupted_playbook_deletes_the_rest_in_its_next_run(fault: Fault) -> None:
    for number in _REQUESTS:
        observer = converged("playbook")
        for action in (Remove((number, fault)), Controllers(30), Remove(), Controllers(30), Remove()):
            observer.act(action)
        assert end(observer) == set()


# Histories after which nothing shows any more why the objects were deleted.
DOUBTFUL: dict[str, list[Event]] = {
    "a deletion in the foreground that ended before the first reconcile": [Delete("Foreground"), Controllers(30)],
    "twice, in the foreground": [Delete("Foreground"), Controllers(30), Delete("Foreground"), Controllers(30)],
}


@pytest.mark.parametrize("by", BOTH)
@pytest.mark.parametrize("history", DOUBTFUL)
def test_pvcs_in_doubt_are_retained(history: str, by: By) -> None:
    observer = converged(by)
    claims = {*observer.claims()}
    for action in DOUBTFUL[history]:
        observer.act(action)
    assert end(observer) == claims


@pytest.mark.parametrize("by", BOTH)
def test_a_copy_of_a_resource_that_was_being_deleted_starts_no_deletion_of_pvcs(by: By) -> None:
    """It has the annotation of its predecessor."""
    observer = converged(by)
    store, live, claims = observer.subject.world.store, observer.subject.live, {*observer.claims()}
    assert live is not None
    copied = {"druid.apache.org/deletes-pvcs": "the uid of its predecessor"}
    store.update({**live, "metadata": {**live["metadata"], "annotations": copied}})
    for action in (Delete("Orphan"), Controllers(3), Prune()):
        observer.act(action)
    assert end(observer) == claims


@pytest.mark.parametrize("by", BOTH)
@pytest.mark.parametrize("kinds", [(), ("StatefulSet",), ("ConfigMap", "Service", "StatefulSet"), ("Druid",)], ids=str)
def test_the_namespace_is_deleted(by: By, kinds: tuple[str, ...]) -> None:
    """The namespace controller deletes everything, in any order, and nothing can be created any more."""
    observer = converged(by)
    subject = observer.subject
    store = subject.world.store
    for live in sorted(store.objects.values(), key=lambda live: live["kind"] not in kinds):
        store.delete(live)
        subject.world.react()
    subject.cluster = None
    subject.world.server.admit = lambda live: (
        "the namespace is being terminated" if "uid" not in live["metadata"] else None
    )
    subject.run(by)
    assert end(observer) == set()


@pytest.mark.parametrize("by", BOTH)
def test_a_resource_that_never_had_an_object(by: By) -> None:
    observer = Observer(by)
    observer.act(Create(CLUSTER))
    observer.subject.world.server.admit = lambda live: None if live["kind"] == "Druid" else "refused"
    observer.act(Run(by))
    observer.act(Delete())
    observer.act(Run(by))
    assert observer.subject.live is None
    assert end(observer) == set()
