# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Another client writes between any two requests: nothing is duplicated, and nothing is lost."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import DruidopsError, ResourceNotFound
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign, only_first
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.fault_proxy import FaultProxy, Seen
from ansible_collections.druidops.druid.tests.system.support.in_process import (
    cluster_request,
    connection,
    good,
    one_pass,
)
from ansible_collections.druidops.druid.tests.system.support.in_process import run as run_cluster
from ansible_collections.druidops.druid.tests.system.support.interleaving_proxy import Interleaving, stepping_in
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    CREATED_KINDS,
    Manifest,
    NamespaceClient,
)
from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible
from ansible_collections.druidops.druid.tests.system.support.small_cluster import (
    KEYS,
    claim,
    objects_of,
    picture,
    resource,
    spec,
)
from testbed.api import ApiError

__all__ = ["stepping_in"]

MET = "modified concurrently"
# The API of the proxy does not sleep, so that the deletion of a workload may take longer than all attempts.
BECAUSE = re.compile("was not (written|deleted) because|is still being deleted")
# Rounds in which two runs are let loose without a conductor.
ROUNDS = 2


def run(api: KubernetesApi, request: Request) -> Outcome | None:
    """Make a run that succeeds, or reports the conflict."""
    try:
        outcome = run_cluster(api, request, lambda _text: None, Clock())
    except ResourceNotFound:
        raise
    except DruidopsError as error:
        assert_only_conflicts([str(error)])
        return None
    if outcome.report is not None:
        assert_only_conflicts([problem.message for problem in outcome.report.problems])
    return outcome


def assert_only_conflicts(texts: list[str]) -> None:
    """No other error occurred, except for consequences of the conflict."""
    assert [text for text in texts if MET not in text and not BECAUSE.search(text)] == []
    assert not texts or [text for text in texts if MET in text]


def test_two_create(live: NamespaceClient, stepping_in: Interleaving, created: dict[str, Any]) -> None:
    other = connection(live)

    def attempt(turn: int) -> None:
        request = cluster_request(f"c{turn}", live.namespace)
        live.create(resource(request.name))
        stepping_in.expect(lambda: good(run(other, request)))
        run(stepping_in.proxy.api(), request)
        good(run(other, request))
        assert picture(live, request.name) == created, stepping_in.reached

    stepping_in.run(attempt)


@campaign("two that create, and two that delete")
def test_two_update(live: NamespaceClient, stepping_in: Interleaving, created: dict[str, Any]) -> None:
    """Another client reverts a change and reconciles while it is applied: the slower run does not apply it again."""
    del created
    other, request, model = (
        connection(live),
        cluster_request("c", live.namespace),
        cluster_request("model", live.namespace),
    )
    live.create(resource("c"))
    good(run(other, request))

    def newer(number: int) -> None:
        live.merge("Druid", "c", {"spec": spec(number)})
        good(run(other, request))

    desired: dict[int, Any] = {}
    for number in (2, 1):
        live.merge("Druid", "model", {"spec": spec(number)})
        good(run(other, model))
        desired[number] = picture(live, "model")

    def attempt(_turn: int) -> None:
        live.merge("Druid", "c", {"spec": spec(2)})
        stepping_in.expect(lambda: newer(1))
        run(stepping_in.proxy.api(), request)
        good(run(other, request))
        assert picture(live, "c") == desired[2 if stepping_in.reached is None else 1], stepping_in.reached
        newer(1)

    stepping_in.run(attempt)


@pytest.mark.parametrize("by", only_first(1, ["the operator", "hand"], "the same by the operator"))
def test_two_delete(live: NamespaceClient, stepping_in: Interleaving, by: str) -> None:
    other, by_hand = connection(live), by == "hand"

    def attempt(turn: int) -> None:
        request = cluster_request(f"c{turn}", live.namespace, absent=by_hand)
        live.create(resource(request.name))
        one_pass(live, request.name)
        for key in KEYS:
            live.create(claim(request.name, key))
        if not by_hand:
            live.delete("Druid", request.name)
        stepping_in.expect(lambda: good(run(other, request)))
        with suppress(ResourceNotFound):
            run(stepping_in.proxy.api(), request)
        assert live.find("Druid", request.name) is None, stepping_in.reached

    stepping_in.run(attempt)
    eventually(lambda: not [name for kind in CREATED_KINDS for name in live.names(kind)])


FOREIGN = {
    "ConfigMap": "c-druid-common-config",
    "Service": "druid-c-brokers-1",
    "StatefulSet": "druid-c-historicals",
    "PodDisruptionBudget": "druid-c-brokers",
}


def foreign(kind: str, name: str) -> Manifest:
    """Return an object without relation to a cluster."""
    labels = {"app": "web"}
    container = {"name": "web", "image": "example.com/web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    specs: dict[str, Any] = {
        "Service": {"selector": labels, "ports": [{"port": 80}]},
        "StatefulSet": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template},
        "PodDisruptionBudget": {"minAvailable": 1, "selector": {"matchLabels": labels}},
    }
    what = {"data": {"key": "text"}} if kind == "ConfigMap" else {"spec": specs[kind]}
    return {"kind": kind, "metadata": {"name": name}, **what}


@pytest.mark.parametrize("kind", only_first(1, sorted(FOREIGN, reverse=True), "the same for a StatefulSet"))
def test_another_client_creates_an_object_with_the_name(
    live: NamespaceClient, stepping_in: Interleaving, kind: str
) -> None:
    """Either we were first, or the object of that name is not ours and stays as it is."""
    taken: list[Manifest] = []

    def take(name: str) -> None:
        with suppress(ApiError):
            taken.append(live.create(foreign(kind, name)))

    def attempt(turn: int) -> None:
        cluster, name = f"c{turn}", FOREIGN[kind].replace("c-", f"c{turn}-", 1)
        live.create(resource(cluster))
        taken.clear()
        stepping_in.expect(lambda: take(name))
        outcome = run_cluster(
            stepping_in.proxy.api(), cluster_request(cluster, live.namespace), lambda _text: None, Clock()
        )
        assert outcome.report is not None
        if not taken:
            assert outcome.report.problems == ()
        else:
            assert outcome.report.problems != ()
            assert essence(live.get(kind, name)) == essence(taken[0]), stepping_in.reached

    stepping_in.run(attempt)


def essence(live: Manifest) -> Any:
    """Return the fields of an object that a user has specified."""
    metadata = live["metadata"]
    specified = [metadata.get(field) for field in ("uid", "labels", "annotations", "ownerReferences")]
    return specified, live.get("data"), live.get("spec")


def edit_everything(live: NamespaceClient) -> set[str]:
    """Add a label and an annotation of no other manager to every object; return which objects these are."""
    mine = {"labels": {"example.com/mine": "yes"}, "annotations": {"example.com/mine": "yes"}}
    edited = set()
    for each in objects_of(live, "c"):
        # An object that was deleted since it was listed cannot be edited.
        with suppress(ApiError):
            edited.add(live.merge(each["kind"], each["metadata"]["name"], {"metadata": mine})["metadata"]["uid"])
    return edited


def forget_edits(live: NamespaceClient) -> None:
    """Take back what was added."""
    mine = {"labels": {"example.com/mine": None}, "annotations": {"example.com/mine": None}}
    for each in objects_of(live, "c"):
        with suppress(ApiError):
            live.merge(each["kind"], each["metadata"]["name"], {"metadata": mine})


@campaign("other writes of two clients, before the first request of each kind")
def test_another_client_adds_to_every_object(live: NamespaceClient, stepping_in: Interleaving) -> None:
    """What others add to an object between any two requests of an update stays as long as the object."""
    request = cluster_request("c", live.namespace)
    live.create(resource("c"))
    good(run(connection(live), request))
    edited: set[str] = set()

    def attempt(turn: int) -> None:
        live.merge("Druid", "c", {"spec": spec(1 + turn % 2)})
        stepping_in.expect(lambda: edited.update(edit_everything(live)))
        run(stepping_in.proxy.api(), request)
        good(run(connection(live), request))
        if stepping_in.reached is None:
            return
        kept = [each["metadata"] for each in objects_of(live, "c") if each["metadata"]["uid"] in edited]
        assert len(kept) > len(KEYS)
        for metadata in kept:
            assert metadata["labels"]["example.com/mine"] == "yes", stepping_in.reached
            assert metadata["annotations"]["example.com/mine"] == "yes", stepping_in.reached
        edited.clear()
        forget_edits(live)

    stepping_in.run(attempt)


def delete_workloads(live: NamespaceClient) -> None:
    """Delete a workload, if it is there just now."""
    for key in KEYS:
        with suppress(ApiError):
            live.delete("StatefulSet", f"druid-c-{key}")


@campaign("other writes of two clients, before the first request of each kind")
def test_another_client_deletes_a_workload(
    live: NamespaceClient, stepping_in: Interleaving, created: dict[str, Any]
) -> None:
    request = cluster_request("c", live.namespace)
    live.create(resource("c"))
    good(run(connection(live), request))

    def attempt(turn: int) -> None:
        live.merge("Druid", "c", {"spec": spec(2)})
        stepping_in.expect(lambda: delete_workloads(live))
        run(stepping_in.proxy.api(), request)
        live.merge("Druid", "c", {"spec": spec(1)})
        good(run(connection(live), request))
        assert picture(live, "c") == created, stepping_in.reached

    stepping_in.run(attempt)


def test_another_client_recreates_the_resource(
    live: NamespaceClient, stepping_in: Interleaving, created: dict[str, Any]
) -> None:
    """Whatever was decided on the old one does not harm the new one."""
    other = connection(live)

    def recreate(request: Request) -> None:
        live.merge("Druid", request.name, {"metadata": {"finalizers": None}})
        live.delete("Druid", request.name)
        live.create(resource(request.name))

    def converged(request: Request) -> bool:
        # objects that Kubernetes deletes during this run are a problem of this run, and not of the next one
        outcome = run(other, request)
        assert outcome is not None
        return outcome.report is not None and not outcome.report.problems and picture(live, request.name) == created

    def attempt(turn: int) -> None:
        request = cluster_request(f"c{turn}", live.namespace)
        live.create(resource(request.name))
        stepping_in.expect(lambda: recreate(request))
        with suppress(DruidopsError):
            run_cluster(stepping_in.proxy.api(), request, lambda _text: None, Clock())
        # Kubernetes deletes the objects of the old one with a delay.
        eventually(lambda: converged(request))

    stepping_in.run(attempt)


def provided(live: NamespaceClient, name: str) -> Request:
    """Return the request of a playbook with the resource in a file."""
    manifest = {**resource(name), "metadata": {"name": name, "namespace": live.namespace}}
    return cluster_request(name, live.namespace, resource=manifest)


@campaign("other writes of two clients, before the first request of each kind")
def test_two_runs_provide_the_resource(live: NamespaceClient, stepping_in: Interleaving) -> None:
    other = connection(live)
    good(run(other, provided(live, "model")))
    created = picture(live, "model")

    def attempt(turn: int) -> None:
        name = f"c{turn}"
        request = provided(live, name)
        stepping_in.expect(lambda: good(run(other, request)))
        run(stepping_in.proxy.api(), request)
        good(run(other, request))
        assert picture(live, name) == created, stepping_in.reached

    stepping_in.run(attempt)


def test_two_concurrent_reconciles(live: NamespaceClient, created: dict[str, Any]) -> None:
    """Two connections, really at once: creation, update and deletion."""
    with ThreadPoolExecutor(2) as threads:

        def both(request: Request) -> None:
            list(threads.map(lambda api: run(api, request), (connection(live), connection(live))))

        for name in (f"c{number}" for number in range(ROUNDS)):
            request = cluster_request(name, live.namespace)
            for specification in (spec(1), spec(2), spec(1)):
                merge_or_create(live, resource(name, specification))
                both(request)
            good(run(connection(live), request))
            assert picture(live, name) == created
            both(cluster_request(name, live.namespace, absent=True))
            assert live.find("Druid", name) is None


def merge_or_create(live: NamespaceClient, manifest: Manifest) -> None:
    """Create the resource, or set the specification."""
    name = manifest["metadata"]["name"]
    if live.find("Druid", name):
        live.merge("Druid", name, {"spec": manifest["spec"]})
    else:
        live.create(manifest)


def test_two_playbooks(ansible: Ansible, live: NamespaceClient) -> None:
    live.create(resource("c", spec(replicas=1)))
    with ThreadPoolExecutor(2) as threads:
        runs = list(threads.map(lambda _number: ansible.cluster("c", wait=True), range(2)))
    assert any(each.changed for each in runs)
    assert not one_pass(live, "c").changed
    assert len(live.list("StatefulSet")) == len(live.list("Pod")) == len(KEYS)


def is_bound(seen: Seen) -> bool:
    """True if a request has a precondition: the object, its version, or that it does not exist."""
    if seen.method == "POST":
        return True
    if seen.method == "DELETE":
        return "uid" in seen.body["preconditions"]
    if "json-patch" in seen.content_type:
        return seen.body[0]["op"] == "test" and seen.body[0]["path"] in {"/metadata/uid", "/metadata/resourceVersion"}
    return bool({"uid", "resourceVersion"} & seen.body["metadata"].keys())


def test_every_write_has_a_precondition(live: NamespaceClient, proxy: FaultProxy) -> None:
    """Creation, update, recreation, repair, deletion by resource; and creation and deletion by variable."""
    request = cluster_request("c", live.namespace)
    live.create(resource("c"))
    proxy.expect()
    good(run(proxy.api(), request))
    # One of the two workloads has to be recreated for this.
    live.merge("Druid", "c", {"spec": spec(2)})
    good(run(proxy.api(), request))
    live.merge("ConfigMap", "c-druid-common-config", {"data": {"mine": "text"}})
    good(run(proxy.api(), request))
    live.merge("Druid", "c", {"spec": {"disablePVCDeletionFinalizer": True}})
    good(run(proxy.api(), request))
    live.merge("Druid", "c", {"spec": {"disablePVCDeletionFinalizer": False}})
    good(run(proxy.api(), request))
    good(run(proxy.api(), cluster_request("c", live.namespace, absent=True)))
    for absent in (False, True):
        good(run(proxy.api(), cluster_request("v", live.namespace, without_resource=True, spec=spec(), absent=absent)))
    writes = [seen for seen in proxy.seen if seen.method != "GET"]
    assert {"POST", "PATCH", "DELETE"} <= {seen.method for seen in writes}
    assert [str(seen) for seen in writes if not is_bound(seen)] == []


def orphan(live: NamespaceClient, name: str) -> None:
    """Delete the resource with `--cascade=orphan`, and wait for the garbage collector."""
    live.delete("Druid", name, "Orphan")
    eventually(lambda: not any(each["metadata"].get("ownerReferences") for each in objects_of(live, name)))


def is_finalized(live: NamespaceClient, request: Request) -> bool:
    """Reconcile the resource if it still exists."""
    if live.find("Druid", request.name):
        run(connection(live), request)
    return live.find("Druid", request.name) is None


def test_a_deletion_with_orphans_keeps_the_data(live: NamespaceClient, stepping_in: Interleaving) -> None:
    """No object gets the resource as its owner again: the finalizer would delete it, and the PVCs."""

    def attempt(turn: int) -> None:
        name = f"o{turn}"
        request = cluster_request(name, live.namespace)
        live.create(resource(name))
        good(run(connection(live), request))
        for key in KEYS:
            live.create(claim(name, key))
        live.merge("Druid", name, {"spec": spec(2)})
        stepping_in.expect(lambda: orphan(live, name))
        with suppress(DruidopsError):
            run_cluster(stepping_in.proxy.api(), request, lambda _text: None, Clock())
        if stepping_in.reached is None:
            orphan(live, name)
        eventually(lambda: is_finalized(live, request))
        left = {(each["kind"], each["metadata"]["name"]) for each in objects_of(live, name)}
        # The workload of the other group is recreated: it may have been deleted just then.
        kept = {("StatefulSet", f"druid-{name}-{KEYS[0]}")}
        kept |= {("PersistentVolumeClaim", f"data-druid-{name}-{key}-0") for key in KEYS}
        assert left >= kept, stepping_in.reached

    stepping_in.run(attempt)
