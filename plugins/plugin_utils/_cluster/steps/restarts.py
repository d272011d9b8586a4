# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the write of a workload does to running pods, and what of it does not wait until they may be replaced.

A created workload adopts the pods of a deleted one, after an interrupted recreation, and replaces those whose template
differs. Only a controller knows that for sure, so the pods are compared with the template: with the fields that it has,
and with those of the main containers that it has no longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.merge_keys import without_duplicates
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Restart
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import (
    missing_volumes,
    ordinal_of,
    partition,
    released_pods,
    replicas,
    subdomain,
    template_names,
    updated_ordinals,
    waits_for_deletion,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import difference, field_set
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import merge, remove
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply

# The pod template, and what may have kept pods of an old revision so far.
TEMPLATE, WITH_STRATEGY = ("template",), ("template", "updateStrategy")
# Fields of a container that neither the API server nor a controller sets in a pod.
_OURS = ("command", "args", "env", "envFrom", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
# The API server adds these tolerations to each pod.
_ADDED_TOLERATIONS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


@dataclass(frozen=True)
class PodReplacement:
    """The replacement of pods as the workload specifies it. A feature that replaces them otherwise has a subclass."""

    def restart(self, live: Manifest, after: Manifest) -> Restart:
        """Return what the write does to pods; `after` is the workload afterwards."""
        released = self.released(live, after) if live["kind"] == "StatefulSet" else 0
        outdates = _outdates_pods(live, after)
        if not outdates or waits_for_deletion(after):
            return Restart(0 if outdates else released, outdates, released)
        return Restart(max(0, min(replicas(live), replicas(after)) - self.kept(after)), outdates, released)

    def kept(self, after: Manifest) -> int:
        """Return how many pods with another template the controller does not replace, counted from the first one."""
        return partition(after)

    def released(self, live: Manifest, after: Manifest) -> int:
        """Return how many pods of an old revision are replaced that the update strategy has kept so far."""
        return released_pods(live, after)

    def waiting_fields(self, live: Manifest, manifest: Manifest, restart: Restart) -> tuple[str, ...]:
        """Return the fields of the spec that are not written before the pods may be replaced."""
        return WITH_STRATEGY if restart.released else TEMPLATE

    def annotations_before(self, live: Manifest, manifest: Manifest, restart: Restart) -> Mapping[str, str | None]:
        """Return the annotations that the workload has until then, None: not any more, if they are not the desired."""
        return {}


AS_SPECIFIED = PodReplacement()


def _outdates_pods(live: Manifest, after: Manifest) -> bool:
    """True when running pods have another template or subdomain than the workload, or no volume of a claim template."""
    subdomains = {each["spec"].get("serviceName") or "" for each in (live, after)}
    added_claims = {*template_names(after)} - {*template_names(live)}
    return live["spec"]["template"] != after["spec"]["template"] or len(subdomains) > 1 or bool(added_claims)


def adoption(step: Apply, observed: Observed) -> Restart | None:
    """Return which pods without a workload the step replaces; None if there are none."""
    workload = step.after or step.created
    if step.key.kind not in WORKLOADS or "template" not in workload["spec"]:
        return None
    pods = [pod for pod in observed.orphans_of(step.key.name) if _is_replaced(pod, workload)]
    return Restart(len(pods), former=_former(pods[0], workload)) if pods else None


def _is_replaced(pod: Manifest, workload: Manifest) -> bool:
    if workload["kind"] == "StatefulSet":
        strategy = (workload["spec"].get("updateStrategy") or {}).get("type")
        if strategy == "OnDelete" or ordinal_of(pod, workload["metadata"]["name"]) not in updated_ordinals(workload):
            return False
        if missing_volumes(pod, workload) or subdomain(pod) != (workload["spec"].get("serviceName") or ""):
            return True
    return _differs(_as_template(pod, workload), _template(workload))


def _differs(pod: Manifest, template: Manifest) -> bool:
    """True if the template changes or adds a field of the pod, or lacks one of a container."""
    before, after = (_workload(each) for each in (pod, template))
    return merge(before, after) != before or any(_removed(pod, template))


def _removed(pod: Manifest, template: Manifest) -> Iterator[str]:
    containers = {container["name"]: container for container in pod["spec"].get("containers") or ()}
    for desired in template["spec"].get("containers") or ():
        running = containers.get(desired["name"], {})
        yield from (name for name in _OURS if running.get(name) and not desired.get(name))
        names = {each["name"] for each in desired.get("env") or ()}
        yield from (each["name"] for each in running.get("env") or () if each["name"] not in names)


def volumes_of_templates(pod: Manifest) -> list[str]:
    """Return the names of the volumes of a pod that the StatefulSet controller has given it."""
    volumes = (
        (volume["name"], volume.get("persistentVolumeClaim") or {}) for volume in pod["spec"].get("volumes") or ()
    )
    return [name for name, claim in volumes if claim.get("claimName") == f"{name}-{pod['metadata']['name']}"]


def _former(pod: Manifest, workload: Manifest) -> Manifest:
    """Return the deleted workload of the pod, with a template that has the fields of the new one."""
    before = _workload(_as_template(pod, workload))
    former: Manifest = remove(before, difference(field_set(before), field_set(_workload(_template(workload)))))
    template = {"spec": {}, **(former.get("spec", {}).get("template") or {})}
    claims = [{"metadata": {"name": name}} for name in volumes_of_templates(pod)]
    spec = {"template": template, "volumeClaimTemplates": claims, "serviceName": subdomain(pod) or None}
    return {"metadata": {"name": workload["metadata"]["name"]}, "spec": spec}


def _as_template(pod: Manifest, workload: Manifest) -> Manifest:
    """Return the pod as a template, without what the API server adds to each pod."""
    metadata = {name: pod["metadata"].get(name) or {} for name in ("labels", "annotations")}
    spec = {**pod.get("spec", {})}
    specified = {toleration.get("key") for toleration in _template(workload)["spec"].get("tolerations") or ()}
    added = [key for key in _ADDED_TOLERATIONS if key not in specified]
    spec["tolerations"] = [
        toleration for toleration in spec.get("tolerations") or () if toleration.get("key") not in added
    ]
    return without_duplicates({"metadata": metadata, "spec": spec})[0]


def _template(workload: Manifest) -> Manifest:
    template: Mapping[str, Any] = workload["spec"]["template"]
    return without_duplicates({"metadata": template.get("metadata") or {}, "spec": template.get("spec") or {}})[0]


def _workload(template: Manifest) -> Manifest:
    return {"kind": WORKLOADS[0], "metadata": {}, "spec": {"template": template}}
