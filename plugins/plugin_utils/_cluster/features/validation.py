# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Preconditions of a reconcile: valid fields, beyond the rules of the CRD, and permitted and existing references."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.config_map import (
    Configuration,
    common_configuration,
    node_configuration,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import (
    ROLLOUT_ORDER,
    Cluster,
    Group,
    ReferenceKey,
    missing_keys,
    not_permitted_keys,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, not_permitted
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import (
    INVALID_QUANTITY,
    QUANTITY_REMEDY,
    parse_quantity,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


class Validation(Feature):
    """Refuses a specification with which the cluster could not work."""

    def refuse(self, inputs: Inputs) -> tuple[Finding, ...]:
        """Return findings about references that are not permitted, invalid values, or missing references."""
        return disallowed_references(inputs) or invalid_spec(inputs) or missing_references(inputs)


def disallowed_references(inputs: Inputs) -> tuple[Finding, ...]:
    """Return a finding for each reference that is not permitted."""
    keys = not_permitted_keys(inputs.resource, inputs.allowed_reference_namespaces)
    return tuple(_refusal(key, inputs.cluster.namespace) for key in keys)


def _refusal(key: ReferenceKey, own_namespace: str) -> Finding:
    if key.kind == "Secret":
        # A pod cannot mount a Secret of another namespace, whatever is allowed.
        return Finding(reasons.REF_NOT_PERMITTED, str(secret_elsewhere(key, own_namespace)))
    return not_permitted("spec.extraCommonConfig", key.kind, key.name, key.namespace)


def invalid_spec(inputs: Inputs) -> tuple[Finding, ...]:
    """Return a finding for each invalid value in the spec."""
    return tuple(Finding(reasons.INVALID_SPEC, str(problem)) for problem in validate(inputs.cluster, inputs.desired))


def missing_references(inputs: Inputs) -> tuple[Finding, ...]:
    """Return a finding for each missing reference: without its files every pod would restart."""
    return tuple(
        Finding(
            reasons.REFERENCE_NOT_FOUND,
            f"spec.extraCommonConfig: {key.kind} {key.name} in namespace {key.namespace} does not exist. "
            "Create it, or remove the reference. Nothing is changed before that.",
        )
        for key in missing_keys(inputs.cluster)
    )


# The limit of container names, label values and Service names.
_LONGEST_NAME = names.MAX_LABEL_CHARACTERS
# A StatefulSet's pods have the label controller-revision-hash: its name, a hyphen and up to ten characters. With a
# longer name the pods are rejected. (Kubernetes shortens the names of a Deployment's pods.)
_LONGEST_STATEFUL_SET_NAME = _LONGEST_NAME - 11
_LARGEST_CONFIG_MAP = 1024 * 1024

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SERVICE_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
_LABEL_KEY = re.compile(
    r"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
)

_EXTENSIONS = ("zookeeper", "metadataStore", "deepStorage")


@dataclass(frozen=True)
class Problem:
    """One problem: field, value, message and remedy."""

    field: str
    value: Any
    message: str
    remedy: str

    def __str__(self) -> str:
        subject = "" if self.value is None else json.dumps(self.value, ensure_ascii=False, default=str) + " "
        return f"{self.field}: {subject}{self.message}; {self.remedy}."


def validate(cluster: Cluster, desired: Desired) -> tuple[Problem, ...]:
    """Return all problems of the cluster and its rendered objects; empty if these can be applied."""
    problems = [problem for rule in _CLUSTER_RULES for problem in rule(cluster)]
    problems += _collisions(desired)
    problems += [problem for group in cluster.groups for problem in _group_problems(group, desired)]
    # A problem of the cluster level is found once per group that inherits it.
    return tuple(problem for position, problem in enumerate(problems) if problem not in problems[:position])


def _group_problems(group: Group, desired: Desired) -> Iterator[Problem]:
    for rule in _GROUP_RULES:
        yield from rule(group)
    yield from _container_names(group, desired)


def _cluster_name(cluster: Cluster) -> Iterator[Problem]:
    if not _is_label_value(cluster.name):
        message = f"cannot be the value of a label: more than {_LONGEST_NAME} characters"
        yield Problem("metadata.name", cluster.name, message, "choose a shorter name")


def _extensions(cluster: Cluster) -> Iterator[Problem]:
    for field in _EXTENSIONS:
        extension = cluster.get(field)
        if extension is not None and extension.get("type") != "default":
            message = "is not a supported type"
            yield Problem(f"spec.{field}.type", extension.get("type"), message, 'use "default"')


def _secret_namespaces(cluster: Cluster) -> Iterator[Problem]:
    for key in cluster.secret_references:
        if key.namespace != cluster.namespace:
            yield secret_elsewhere(key, cluster.namespace)


def secret_elsewhere(key: ReferenceKey, own_namespace: str) -> Problem:
    """Return the problem of a Secret in another namespace, which no pod of the cluster can mount."""
    message = "is not the namespace of the cluster, and pods can only mount Secrets of their own namespace"
    remedy = f"copy Secret {key.name} to namespace {own_namespace}, and reference it there"
    return Problem("spec.extraCommonConfig", key.namespace, message, remedy)


def _cluster_size(cluster: Cluster) -> Iterator[Problem]:
    yield from _size("spec.common.runtime.properties", common_configuration(cluster))


def _cluster_labels(cluster: Cluster) -> Iterator[Problem]:
    yield from _labels("spec.podLabels", cluster.get("podLabels") or {})


def _cluster_quantities(cluster: Cluster) -> Iterator[Problem]:
    yield from _quantities("spec", cluster.spec)
    yield from _limits("spec", cluster.spec)


def _collisions(desired: Desired) -> Iterator[Problem]:
    identities = [(kind, name, key) for key, kind, name in _identities(desired)]
    for (kind, name), count in Counter((kind, name) for kind, name, _key in identities).items():
        if count > 1:
            keys = [key for other, same, key in identities if (other, same) == (kind, name)]
            yield _collision(kind, name, keys)


def _identities(desired: Desired) -> Iterator[tuple[str, str, str]]:
    for key, objects in (("", desired.common), *desired.groups.items()):
        yield from ((key, manifest["kind"], manifest["metadata"]["name"]) for manifest in objects)


def _collision(kind: str, name: str, keys: list[str]) -> Problem:
    owners = " and ".join(dict.fromkeys(f"group {key}" if key else "the cluster itself" for key in keys))
    message = f"is the name of {len(keys)} objects of kind {kind}, defined by {owners}"
    return Problem(f"spec.nodes[{keys[-1]}]", name, message, "name one of them differently")


def _images(cluster: Cluster) -> Iterator[Problem]:
    without = [group.key for group in cluster.groups if not group.first_non_empty("image")]
    if without:
        message = f"no image is set here or in {_groups(without)}"
        yield Problem("spec.image", None, message, "set it, or image in each of them")


def _groups(keys: Sequence[str]) -> str:
    return f"group{'' if len(keys) == 1 else 's'} {join_limited(keys)}"


def _node_type(group: Group) -> Iterator[Problem]:
    if group.node_type not in ROLLOUT_ORDER:
        remedy = "use one of " + ", ".join(sorted(ROLLOUT_ORDER))
        yield Problem(_path(group, "nodeType"), group.node_type, "is not a Druid service", remedy)


def _kind(group: Group) -> Iterator[Problem]:
    kind = group.node.get("kind") or "StatefulSet"
    # In another spelling it is a StatefulSet, too, as the user wants.
    if kind not in WORKLOADS and kind.lower() != "statefulset":
        remedy = "use Deployment, or StatefulSet, which the Go operator creates for any other kind"
        yield Problem(_path(group, "kind"), kind, "is not a supported kind of workload", remedy)


def _deployment_claims(group: Group) -> Iterator[Problem]:
    templates = group.node.get("volumeClaimTemplates") or []
    if group.is_deployment and templates:
        specified = [(template.get("metadata") or {}).get("name", "") for template in templates]
        message = "cannot be PVC templates of a Deployment, whose pods share their volumes"
        remedy = "remove them, and use persistentVolumeClaim or volumes, or set kind to StatefulSet"
        yield Problem(_path(group, "volumeClaimTemplates"), specified, message, remedy)


def _unique_name(group: Group) -> Iterator[Problem]:
    limit = _LONGEST_NAME if group.is_deployment else _LONGEST_STATEFUL_SET_NAME
    name = group.unique_name
    if not _DNS_LABEL.fullmatch(name):
        message = "cannot be the name of a container: only lower case letters, digits and hyphens are allowed"
        yield Problem(f"spec.nodes[{group.key}]", name, message, "choose another key or another name for the cluster")
    if len(name) > limit:
        message = f"is {len(name)} characters long, and the name of a {group.kind} can have {limit}"
        yield Problem(f"spec.nodes[{group.key}]", name, message, "choose a shorter key or name for the cluster")


def _node_labels(group: Group) -> Iterator[Problem]:
    yield from _labels(_path(group, "podLabels"), group.node.get("podLabels") or {})


def _overlay_labels(group: Group) -> Iterator[Problem]:
    metadata = (group.node.get("podTemplate") or {}).get("metadata") or {}
    field = _path(group, "podTemplate.metadata.labels")
    labels = metadata.get("labels") or {}
    specified = {key: value for key, value in labels.items() if value is not None}
    yield from _labels(field, specified)
    for key, value in names.fixed_labels(group).items():
        if specified.get(key, value) != value:
            yield Problem(f"{field}[{key}]", labels[key], f"must be {value}: the selector uses it", "remove it")


def _overlay_containers(group: Group) -> Iterator[Problem]:
    spec = (group.node.get("podTemplate") or {}).get("spec") or {}
    for field in ("containers", "initContainers"):
        for position, container in enumerate(spec.get(field) or []):
            if not container.get("name"):
                path = _path(group, f"podTemplate.spec.{field}[{position}].name")
                remedy = f"name the container; Druid's own is {group.unique_name}"
                yield Problem(path, None, "a container without a name cannot be merged", remedy)


def _container_names(group: Group, desired: Desired) -> Iterator[Problem]:
    spec = _pod_spec(group, desired)
    containers = [*spec["containers"], *spec.get("initContainers", [])]
    for name, count in Counter(container.get("name") for container in containers).items():
        if count > 1:
            message = f"is the name of {count} containers of group {group.key}"
            yield Problem(_container_path(group, name), name, message, "give each container its own name")


def _pod_spec(group: Group, desired: Desired) -> Mapping[str, Any]:
    workloads = (manifest for manifest in desired.groups[group.key] if manifest["kind"] == group.kind)
    workload = desired.verbatim.get(group.key) or next(workloads)
    spec: Mapping[str, Any] = workload["spec"]["template"]["spec"]
    return spec


def _container_path(group: Group, name: Any) -> str:
    for path, level in ((f"spec.nodes[{group.key}]", group.node), ("spec", group.cluster.spec)):
        if name in [entry.get("containerName") for entry in level.get("additionalContainer") or []]:
            return f"{path}.additionalContainer"
    return _path(group, "podTemplate.spec")


def _service_names(group: Group) -> Iterator[Problem]:
    own = group.node.get("services") is not None
    for position, entry in enumerate(group.first_present("services") or []):
        field = f"services[{position}].metadata.name"
        path = _path(group, field) if own else f"spec.{field}"
        yield from _service_name(group, path, (entry.get("metadata") or {}).get("name"))


def _service_name(group: Group, path: str, template: str | None) -> Iterator[Problem]:
    if template and template.count("%s") != 1:
        message = "must contain %s, the placeholder for the name of the group, exactly once"
        yield Problem(path, template, message, "write for example %s-api")
        return
    name = names.service_name(template, group.unique_name)
    if len(name) > _LONGEST_NAME or not _SERVICE_NAME.fullmatch(name):
        message = f"cannot be the name of a Service: up to {_LONGEST_NAME} lower case letters, digits and hyphens"
        yield Problem(path, name, message, "choose another name or another key for the group")


def _node_quantities(group: Group) -> Iterator[Problem]:
    yield from _quantities(f"spec.nodes[{group.key}]", group.node)
    yield from _limits(f"spec.nodes[{group.key}]", group.node)


def _node_size(group: Group) -> Iterator[Problem]:
    yield from _size(_path(group, "runtime.properties"), node_configuration(group))


def _path(group: Group, field: str) -> str:
    return f"spec.nodes[{group.key}].{field}"


def _labels(path: str, labels: Mapping[str, Any]) -> Iterator[Problem]:
    for key, value in labels.items():
        if not _LABEL_KEY.fullmatch(key):
            yield Problem(path, key, "cannot be the key of a label", "use letters, digits, -, _ and .")
        if not _is_label_value(value):
            message = f"cannot be the value of a label: up to {_LONGEST_NAME} letters, digits, -, _ and ."
            yield Problem(f"{path}[{key}]", value, message, "choose another value, or use an annotation")


def _is_label_value(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_NAME and bool(_LABEL_VALUE.fullmatch(value))


def _size(path: str, configuration: Configuration) -> Iterator[Problem]:
    if configuration.size > _LARGEST_CONFIG_MAP:
        message = (
            f"is the size in bytes of the files in ConfigMap {configuration.name},"
            f" and a ConfigMap can hold {_LARGEST_CONFIG_MAP}"
        )
        yield Problem(path, configuration.size, message, "move files to volumes or to a Secret")


def _quantities(path: str, level: Mapping[str, Any]) -> Iterator[Problem]:
    for field, resources in _resources(level):
        for section in ("requests", "limits"):
            for name, value in (resources.get(section) or {}).items():
                if value is not None and parse_quantity(value) is None:
                    where = f"{path}.{field}.{section}[{name}]"
                    yield Problem(where, value, INVALID_QUANTITY, QUANTITY_REMEDY)


def _limits(path: str, level: Mapping[str, Any]) -> Iterator[Problem]:
    containers = (resource for resource in _resources(level) if not resource[0].startswith(_CLAIMS))
    for field, resources in containers:
        limits = resources.get("limits") or {}
        for name, value in (resources.get("requests") or {}).items():
            requested, limit = parse_quantity(value), parse_quantity(limits.get(name))
            if requested is not None and limit is not None and requested > limit:
                message = f"is more than the limit of {limits[name]}, which Kubernetes rejects"
                where = f"{path}.{field}.requests[{name}]"
                yield Problem(where, value, message, "lower it, or raise the limit")


_CLAIMS = ("volumeClaimTemplates", "persistentVolumeClaim")


def _resources(level: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield "resources", level.get("resources") or {}
    yield from _listed_resources("additionalContainer", level.get("additionalContainer") or [], "")
    for field in _CLAIMS:
        claims = [claim.get("spec") or {} for claim in level.get(field) or []]
        yield from _listed_resources(field, claims, "spec.")


def _listed_resources(
    field: str, items: Iterable[Mapping[str, Any]], prefix: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for position, item in enumerate(items):
        yield f"{field}[{position}].{prefix}resources", item.get("resources") or {}


_CLUSTER_RULES = (
    _cluster_name,
    _extensions,
    _images,
    _secret_namespaces,
    _cluster_size,
    _cluster_labels,
    _cluster_quantities,
)
_GROUP_RULES = (
    _node_type,
    _kind,
    _deployment_claims,
    _unique_name,
    _node_labels,
    _overlay_labels,
    _overlay_containers,
    _service_names,
    _node_quantities,
    _node_size,
)
