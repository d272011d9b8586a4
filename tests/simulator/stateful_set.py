# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The StatefulSet controller, as in kube-controller-manager (pkg/controller/statefulset, Kubernetes 1.34)."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.tests.simulator import managed_fields
from ansible_collections.druidops.druid.tests.simulator.claim_owners import DELETE, is_stale, owners_of_claim
from ansible_collections.druidops.druid.tests.simulator.pods import (
    adopt,
    controlled_by,
    digest,
    is_available,
    is_ready,
    pod_of,
)
from ansible_collections.druidops.druid.tests.simulator.schema import RETENTION_POLICY
from ansible_collections.druidops.druid.tests.simulator.store import Manifest, Store, key_of

CLAIM = "PersistentVolumeClaim"
_REVISION = "controller-revision-hash"


def sync(store: Store) -> None:
    """Reconcile each StatefulSet once."""
    for live in store.of_kind("StatefulSet"):
        if not is_terminating(live):
            adopt(store, "Pod", live)
            _record_revision(store, live)
            _sync(store, live)
        _write_status(store, live)


def _sync(store: Store, live: Manifest) -> None:
    """Create missing pods, then delete those beyond the replicas, then update.

    With podManagementPolicy OrderedReady each only when the one before is done, one pod at a time, and only while all
    before it are available. Of the pods to delete, only the lowest one that is not available can be.
    """
    is_ordered = live["spec"]["podManagementPolicy"] == "OrderedReady"
    if not _keep_all(store, live, is_ordered):
        return
    surplus = sorted(_surplus(store, live), key=lambda pod: -_ordinal(pod))
    for pod in surplus:
        _own_claims(store, live, pod, is_scaled_down=True)
    unavailable = [pod for pod in surplus if not is_available(pod, live, store.clock.now())]
    for pod in surplus:
        if is_ordered and pod in unavailable[:-1]:
            return
        if not is_terminating(pod):
            store.delete(pod)
        if is_ordered:
            return
    if live["spec"]["updateStrategy"]["type"] == "RollingUpdate":
        _update(store, live)


def _keep_all(store: Store, live: Manifest, is_ordered: bool) -> bool:
    """Create the missing pods; return whether the controller may go on."""
    for ordinal in range(live["spec"]["replicas"]):
        if lacks_a_volume(_pod(store, live, ordinal), live):
            # The controller creates the PVC, fails to update the pod, and goes no further.
            _create_claims(store, live, ordinal)
            return False
        is_done = _keep(store, live, ordinal)
        if is_ordered and not is_done:
            return False
    return True


def lacks_a_volume(pod: Manifest | None, live: Manifest) -> bool:
    """True for a pod without the volume of a claim template: its controller fails to add it."""
    volumes = {each["name"] for each in (pod or {}).get("spec", {}).get("volumes") or ()}
    return pod is not None and any(name not in volumes for name, _claim in _claims(live, 0))


def _keep(store: Store, live: Manifest, ordinal: int) -> bool:
    """Create the pod if it is missing, and its PVCs; return whether it is available."""
    pod = _pod(store, live, ordinal)
    if pod is None:
        if _waits_for_claims(store, live, ordinal):
            return False
        _create_claims(store, live, ordinal)
        pod = store.create(_new_pod(store, live, ordinal))
    elif pod["status"]["phase"] == "Pending":
        _create_claims(store, live, ordinal)
    _own_claims(store, live, pod, is_scaled_down=False)
    return is_available(pod, live, store.clock.now())


def is_updated(pod: Manifest, live: Manifest) -> bool:
    """True for a pod of the current template."""
    return bool(pod["metadata"]["labels"].get(_REVISION) == _revision(live))


def _update(store: Store, live: Manifest) -> None:
    """Delete the last pod of an old revision, if those after it are available."""
    partition = live["spec"]["updateStrategy"]["rollingUpdate"]["partition"]
    for ordinal in reversed(range(partition, live["spec"]["replicas"])):
        pod = _pod(store, live, ordinal)
        if pod is None or is_terminating(pod):
            return
        if not is_updated(pod, live):
            store.delete(pod)
            return
        if not is_available(pod, live, store.clock.now()):
            return


def _new_pod(store: Store, live: Manifest, ordinal: int) -> Manifest:
    revision, template = _template_for(store, live, ordinal)
    name = f"{live['metadata']['name']}-{ordinal}"
    labels = {
        _REVISION: revision,
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": str(ordinal),
    }
    mounted = {template_name: claim["metadata"]["name"] for template_name, claim in _claims(live, ordinal)}
    others = [each for each in template["spec"].get("volumes") or () if each["name"] not in mounted]
    volumes = [{"name": each, "persistentVolumeClaim": {"claimName": claim}} for each, claim in mounted.items()]
    network = {"hostname": name, "subdomain": live["spec"].get("serviceName", "")}
    return pod_of(live, name, template, labels, volumes=[*others, *volumes], **network)


def _template_for(store: Store, live: Manifest, ordinal: int) -> tuple[str, Manifest]:
    """Return revision and template of a new pod: below the partition those of before the update."""
    strategy = live["spec"]["updateStrategy"]
    current = (live.get("status") or {}).get("currentRevision", _revision(live))
    former = store.get("ControllerRevision", live["metadata"]["namespace"], current)
    if former is not None and ordinal < (strategy.get("rollingUpdate") or {}).get("partition", 0):
        return current, former["data"]
    return _revision(live), live["spec"]["template"]


def _claims(live: Manifest, ordinal: int) -> Iterator[tuple[str, Manifest]]:
    """Yield the PVCs of a pod with the names of their templates."""
    for template in live["spec"].get("volumeClaimTemplates") or ():
        own = template["metadata"]
        labels = {**(own.get("labels") or {}), **live["spec"]["selector"]["matchLabels"]}
        name = f"{own['name']}-{live['metadata']['name']}-{ordinal}"
        metadata = {**own, "name": name, "namespace": live["metadata"]["namespace"], "labels": labels}
        yield own["name"], {**template, "metadata": metadata}


def _live_claims(store: Store, live: Manifest, ordinal: int) -> Iterator[Manifest]:
    for _template_name, claim in _claims(live, ordinal):
        found = store.objects.get(key_of(claim))
        if found is not None:
            yield found


def _create_claims(store: Store, live: Manifest, ordinal: int) -> None:
    for _template_name, claim in _claims(live, ordinal):
        if key_of(claim) not in store.objects:
            store.create(managed_fields.updated(None, claim, "kube-controller-manager"))


def _own_claims(store: Store, live: Manifest, pod: Manifest, *, is_scaled_down: bool) -> None:
    """Set the owners of the pod's PVCs. PVCs without a pod are left as they are."""
    for claim in _live_claims(store, live, _ordinal(pod)):
        owners = owners_of_claim(claim, live, pod, is_scaled_down)
        if owners != (claim["metadata"].get("ownerReferences") or []):
            store.update_metadata(claim, ownerReferences=owners)


def _waits_for_claims(store: Store, live: Manifest, ordinal: int) -> bool:
    """True while a PVC is about to be deleted with an earlier pod of the name."""
    name = f"{live['metadata']['name']}-{ordinal}"
    new = {"kind": "Pod", "metadata": {"name": name, "uid": ""}}
    if live["spec"][RETENTION_POLICY]["whenScaled"] != DELETE:
        return False
    return any(
        is_stale(claim["metadata"].get("ownerReferences") or [], new) for claim in _live_claims(store, live, ordinal)
    )


def _pod(store: Store, live: Manifest, ordinal: int) -> Manifest | None:
    return store.get("Pod", live["metadata"]["namespace"], f"{live['metadata']['name']}-{ordinal}")


def _surplus(store: Store, live: Manifest) -> list[Manifest]:
    return [pod for pod in controlled_by(store, "Pod", live) if _ordinal(pod) >= live["spec"]["replicas"]]


def _ordinal(pod: Manifest) -> int:
    return int(pod["metadata"]["name"].rpartition("-")[2])


def _revision(live: Manifest) -> str:
    return f"{live['metadata']['name']}-{digest(live['spec']['template'])}"


def _record_revision(store: Store, live: Manifest) -> None:
    metadata = {"name": _revision(live), "namespace": live["metadata"]["namespace"]}
    revision = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata}
    if key_of(revision) not in store.objects:
        store.create({**revision, "data": live["spec"]["template"]})


def _write_status(store: Store, live: Manifest) -> None:
    pods, update = controlled_by(store, "Pod", live), _revision(live)
    updated = [pod for pod in pods if pod["metadata"]["labels"][_REVISION] == update and not is_terminating(pod)]
    ready = len([*filter(is_ready, pods)])
    current = (live.get("status") or {}).get("currentRevision", update)
    rolls = live["spec"]["updateStrategy"]["type"] == "RollingUpdate"
    if rolls and len(updated) == len(pods) == ready == live["spec"]["replicas"]:
        current = update
    counts = {
        "replicas": len(pods),
        "readyReplicas": ready,
        "availableReplicas": len([pod for pod in pods if is_available(pod, live, store.clock.now())]),
        "updatedReplicas": len(updated),
    }
    status = {
        "observedGeneration": live["metadata"]["generation"],
        "currentRevision": current,
        "updateRevision": update,
    }
    store.update({**live, "status": {**status, **counts}})
