# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The part of the API's schema that matters to the controllers: defaults, and fields that cannot be changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ansible_collections.druidops.druid.tests.simulator.store import Manifest

RETENTION_POLICY = "persistentVolumeClaimRetentionPolicy"
_MUTABLE = {
    "StatefulSet": {
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        RETENTION_POLICY,
        "revisionHistoryLimit",
        "minReadySeconds",
    },
}


def with_defaults(manifest: Manifest) -> Manifest:
    """Return the object with the defaults of its kind."""
    return _DEFAULTS.get(manifest["kind"], lambda unchanged: unchanged)(manifest)


def _stateful_set(manifest: Manifest) -> Manifest:
    spec = {"podManagementPolicy": "OrderedReady", "replicas": 1, "revisionHistoryLimit": 10, **manifest["spec"]}
    spec[RETENTION_POLICY] = {"whenDeleted": "Retain", "whenScaled": "Retain", **(spec.get(RETENTION_POLICY) or {})}
    strategy = {"type": "RollingUpdate", **(spec.get("updateStrategy") or {})}
    if strategy["type"] == "RollingUpdate":
        strategy["rollingUpdate"] = {"partition": 0, **(strategy.get("rollingUpdate") or {})}
    claims = [_claim_template(each) for each in spec.get("volumeClaimTemplates") or ()]
    more = {"volumeClaimTemplates": claims} if claims else {}
    return {**manifest, "spec": {**spec, "updateStrategy": strategy, **more}}


def _claim_template(claim: Manifest) -> Manifest:
    head = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": "Pending"}}
    return {**head, **claim, "spec": {"volumeMode": "Filesystem", **claim["spec"]}}


def _deployment(manifest: Manifest) -> Manifest:
    spec = {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600, **manifest["spec"]}
    strategy = {"type": "RollingUpdate", **(spec.get("strategy") or {})}
    if strategy["type"] == "RollingUpdate":
        limits = {"maxSurge": "25%", "maxUnavailable": "25%", **(strategy.get("rollingUpdate") or {})}
        strategy["rollingUpdate"] = limits
    return {**manifest, "spec": {**spec, "strategy": strategy}}


def _autoscaler(manifest: Manifest) -> Manifest:
    return {**manifest, "spec": {"minReplicas": 1, **manifest["spec"]}}


_DEFAULTS: dict[str, Callable[[Manifest], Manifest]] = {
    "StatefulSet": _stateful_set,
    "Deployment": _deployment,
    "HorizontalPodAutoscaler": _autoscaler,
}


def immutable_changes(live: Manifest, after: Manifest) -> Iterator[str]:
    """Yield the paths of the fields that differ and cannot be changed."""
    kind, old, new = live["kind"], live.get("spec") or {}, after.get("spec") or {}
    differing = {name for name in {**old, **new} if old.get(name) != new.get(name)}
    if kind in _MUTABLE:
        yield from (f"spec.{name}" for name in sorted(differing - _MUTABLE[kind]))
    elif kind == "Deployment" and "selector" in differing:
        yield "spec.selector"
    elif kind == "PersistentVolumeClaim" and differing - {"resources", "volumeName", "volumeAttributesClassName"}:
        yield "spec"
    elif kind == "Service" and "None" in (old.get("clusterIP"), new.get("clusterIP")) and "clusterIP" in differing:
        yield "spec.clusterIP"
