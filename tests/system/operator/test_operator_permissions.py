# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator's rights are those that it needs: none is missing, and the audit log shows each of them used."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ansible_collections.druidops.druid.tests.system.support import full_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.druid_operator import start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.go_operator import GoOperator
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from ansible_collections.druidops.druid.tests.system.support.operator_account import FORBIDDEN, granted, used
from testbed.operator_plugin import StartOperator

NAME = "hand"
IGNORED = "druid.apache.org/ignored"


@campaign("all tests of the operator run with exactly these permissions")
def test_each_permission_is_required_and_none_is_missing(
    operator: StartOperator, golden: NamespaceClient, tmp_path: Path
) -> None:
    live, mark = golden, golden.mark()
    GoOperator(live, NAME).run()
    # The addresses of the API server are read in order to refuse them; no Druid is reached here.
    started = start(operator, live, tmp_path, ALLOW_OWN_HOST="")
    started.wait_until_settled(NAME)
    create_one_of_every_kind(live)
    started.wait_until_settled(full_cluster.NAME)

    edit_twice(live)
    remove_labels(live)
    reject_a_pod(live)
    crash(live)
    grow(live)
    specify_another_first_service(live)
    leave_pods_behind(live)
    started.wait_until_settled(full_cluster.NAME)
    remove_groups(live, NAME)
    started.wait_until_settled(NAME)
    ingest(live)
    describe_objects(live)
    collect(live)
    for name in (NAME, full_cluster.NAME):
        live.delete("Druid", name)
    eventually(lambda: live.created_objects() == set() and live.list("Druid") == [])

    of_account = live.plane.audit.since(mark, started.account.username)
    # Not in the namespace.
    others = (each for each in of_account if each.resource in ("storageclasses", "endpointslices"))
    events = [*started.events(mark), *others]
    assert [each for each in events if each.code == FORBIDDEN] == []
    assert used(events) == granted()


def create_one_of_every_kind(live: NamespaceClient) -> None:
    """With pods, a PVC, and a Secret among its files."""
    files = live.create(
        {"kind": "Secret", "metadata": {"generateName": "files-"}, "stringData": {"a.properties": "b=c"}}
    )
    resource = {
        "apiVersion": "druid.apache.org/v1alpha1",
        "kind": "Druid",
        "metadata": {"name": full_cluster.NAME},
        "spec": full_cluster.spec(
            historicals=full_cluster.historicals(
                replicas=1, persistentVolumeClaim=[full_cluster.claim_template("druid-full-own")]
            ),
            brokers=full_cluster.brokers(replicas=1),
        ),
    }
    resource["spec"]["extraCommonConfig"] = [{"name": files["metadata"]["name"], "kind": "Secret"}]
    live.create(resource)


def remove_labels(live: NamespaceClient) -> None:
    """Remove the label by which objects are listed: they are read by name. A PVC is not ours without it."""
    claim = ("PersistentVolumeClaim", "druid-full-own")
    objects = {
        "Service": full_cluster.STATEFUL,
        "StatefulSet": full_cluster.STATEFUL,
        "Deployment": full_cluster.STATELESS,
        "Ingress": full_cluster.STATELESS,
        "PodDisruptionBudget": full_cluster.STATEFUL,
        "HorizontalPodAutoscaler": full_cluster.STATELESS,
    }
    for each in objects.items():
        live.merge(*each, {"metadata": {"labels": {"druid_cr": None}}})
    eventually(lambda: all("druid_cr" in live.get(*each)["metadata"]["labels"] for each in objects.items()))
    live.merge(*claim, {"metadata": {"labels": {"druid_cr": None}}})
    eventually(lambda: condition(live.get("Druid", full_cluster.NAME), "Degraded")["reason"] == "NameConflict")
    live.merge(*claim, {"metadata": {"labels": {"druid_cr": full_cluster.NAME}}})
    eventually(lambda: condition(live.get("Druid", full_cluster.NAME), "Ready")["status"] == "True")


def reject_a_pod(live: NamespaceClient) -> None:
    """A quota does not allow one more pod: the event of the StatefulSet has the cause."""
    quota = {"kind": "ResourceQuota", "metadata": {"name": "pods"}, "spec": {"hard": {"pods": "0"}}}
    live.create(quota)
    live.merge("Druid", full_cluster.NAME, {"spec": {"nodes": {"historicals": {"replicas": 2}}}})
    eventually(lambda: condition(live.get("Druid", full_cluster.NAME), "Degraded")["reason"] == "PodsNotCreated")
    live.delete("ResourceQuota", "pods")
    live.merge("Druid", full_cluster.NAME, {"spec": {"nodes": {"historicals": {"replicas": 1}}}})
    eventually(lambda: condition(live.get("Druid", full_cluster.NAME), "Ready")["status"] == "True")


def crash(live: NamespaceClient) -> None:
    """A container ends again and again: its log has the cause."""
    for begin, reason in (("crash", "PodsFailing"), (None, "AsExpected")):
        annotations = {"podAnnotations": {"test/start": begin}}
        live.merge("Druid", full_cluster.NAME, {"spec": {"nodes": {"brokers": annotations}}})
        eventually(partial(has_reason, live, reason))
    eventually(lambda: condition(live.get("Druid", full_cluster.NAME), "Ready")["status"] == "True")


def has_reason(live: NamespaceClient, reason: str) -> bool:
    """Whether this is the reason of the condition Degraded."""
    return bool(condition(live.get("Druid", full_cluster.NAME), "Degraded")["reason"] == reason)


def grow(live: NamespaceClient) -> None:
    """Expand a PVC, whose storage class has to be read."""
    groups = {"historicals": {"volumeClaimTemplates": [full_cluster.claim_template(storage="2Gi")]}}
    live.merge("Druid", full_cluster.NAME, {"spec": {"scalePvcSts": True, "nodes": groups}})
    name = f"data-{full_cluster.STATEFUL}-0"
    eventually(lambda: live.get("PersistentVolumeClaim", name)["spec"]["resources"]["requests"]["storage"] == "2Gi")


def specify_another_first_service(live: NamespaceClient) -> None:
    """Its pod is evicted, since it has the other one as its subdomain."""
    services = [{"metadata": {"name": "%s-b"}, "spec": {"type": "ClusterIP", "clusterIP": "None"}}]
    live.merge("Druid", full_cluster.NAME, {"spec": {"nodes": {"historicals": {"services": services}}}})
    pod = ("Pod", f"{full_cluster.STATEFUL}-0")
    eventually(lambda: (live.find(*pod) or {}).get("spec", {}).get("subdomain") == f"{full_cluster.STATEFUL}-b")


def ingest(live: NamespaceClient) -> None:
    """Define a supervisor of an unreachable Druid, and delete it."""
    document = {"spec": {"dataSchema": {"dataSource": "pages"}, "ioConfig": {"topic": "pages"}}}
    spec = {"endpoint": {"url": "http://127.0.0.1:1"}, "ingestion": {"type": "kafka", "nativeSpec": document}}
    live.create({"kind": "DruidIngestion", "metadata": {"name": "pages"}, "spec": spec})
    eventually(lambda: "conditions" in live.get("DruidIngestion", "pages")["status"])
    live.delete("DruidIngestion", "pages")
    eventually(lambda: live.list("DruidIngestion") == [])


def describe_objects(live: NamespaceClient) -> None:
    """Describe objects in an unreachable Druid."""
    for kind, spec in {
        "DruidLookup": {"lookupExtractorFactory": {"type": "map"}},
        "DruidRole": {"permissions": [{"resource": {"type": "STATE", "name": "STATE"}, "action": "READ"}]},
        "DruidUser": {"roles": []},
    }.items():
        endpoint = {"endpoint": {"url": "http://127.0.0.1:1"}}
        live.create({"kind": kind, "metadata": {"name": "pages"}, "spec": {**endpoint, **spec}})
        eventually(lambda kind=kind: "conditions" in live.get(kind, "pages")["status"])  # type: ignore[misc]
        live.delete(kind, "pages")
        eventually(lambda kind=kind: live.list(kind) == [])  # type: ignore[misc]


def collect(live: NamespaceClient) -> None:
    """Define a Collector without the permissions of config/collector, which it needs only to install its release."""
    chart = {"repository": "https://charts.example.com", "name": "c", "version": "1.0.0"}
    live.create({"kind": "Collector", "metadata": {"name": "c"}, "spec": {"collector": {"name": "c"}, "chart": chart}})
    eventually(lambda: "conditions" in live.get("Collector", "c")["status"])
    live.delete("Collector", "c")
    eventually(lambda: live.list("Collector") == [])


def edit_twice(live: NamespaceClient) -> None:
    """Another client makes the same edit twice, which repeats the event."""
    name = min(live.names("PodDisruptionBudget"))
    allowed = live.get("PodDisruptionBudget", name)["spec"]["maxUnavailable"]
    for _edit in range(2):
        live.merge("PodDisruptionBudget", name, {"spec": {"maxUnavailable": 77}})
        eventually(lambda: live.get("PodDisruptionBudget", name)["spec"]["maxUnavailable"] == allowed)


def leave_pods_behind(live: NamespaceClient) -> None:
    """Another client deletes the workloads without their pods, and their groups are removed meanwhile."""
    live.merge("Druid", full_cluster.NAME, {"metadata": {"annotations": {IGNORED: "true"}}})
    eventually(lambda: condition(live.get("Druid", full_cluster.NAME), "Paused")["status"] == "True")
    live.delete("StatefulSet", full_cluster.STATEFUL, propagation="Orphan")
    live.delete("Deployment", full_cluster.STATELESS, propagation="Orphan")
    eventually(lambda: not live.find("StatefulSet", full_cluster.STATEFUL))
    eventually(lambda: not live.find("Deployment", full_cluster.STATELESS))
    other = full_cluster.historicals(volumeClaimTemplates=None, volumeMounts=None, replicas=1)
    nodes = {"historicals": None, "brokers": None, "others": other}
    live.merge("Druid", full_cluster.NAME, {"metadata": {"annotations": {IGNORED: None}}, "spec": {"nodes": nodes}})


def remove_groups(live: NamespaceClient, name: str) -> None:
    """Remove all groups but one from the resource, and wait until their objects are deleted."""
    resource = live.get("Druid", name)
    _kept, *others = sorted(resource["spec"]["nodes"])
    live.merge("Druid", name, {"spec": {"nodes": dict.fromkeys(others)}})
    workloads = {f"druid-{name}-{key}" for key in others}
    eventually(lambda: not workloads & (live.names("StatefulSet") | live.names("Deployment")))
