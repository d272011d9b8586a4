# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every name, label and annotation of a Druid cluster, in one place.

Running clusters depend on them: they are those of the Go operator, and those that start with ``app.kubernetes.io/``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import FIELD_MANAGER

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group

API_VERSION = "druid.apache.org/v1alpha1"
KIND = "Druid"

FINALIZER = "deletepvc.finalizers.druid.apache.org"

TAKE_OVER_ANNOTATION = "druid.apache.org/take-over"
RESOURCE_HASH_ANNOTATION = "druidOpResourceHash"
SECRET_HASH_ANNOTATION = "druid.apache.org/secret-hash"
# On a resource: all groups are deleted if the spec has none.
REMOVE_ALL_GROUPS_ANNOTATION = "druid.apache.org/remove-all-groups"
# On a resource: removed groups are deleted although the others are not available yet.
REMOVE_IMMEDIATELY_ANNOTATION = "druid.apache.org/remove-immediately"
# On a resource: groups restart although an earlier one in the order is blocked.
RESTART_OUT_OF_ORDER_ANNOTATION = "druid.apache.org/restart-out-of-order"
# On a resource, a time: all groups restart, one after the other. On a pod template, it causes the restart. With the
# prefix and the key of a group, only that group restarts.
RESTARTED_AT_ANNOTATION = "druid.apache.org/restarted-at"
GROUP_RESTARTED_AT_PREFIX = "restarted-at.druid.apache.org/"
# On the workload of a stopped group: the number of pods that it had before.
REPLICAS_BEFORE_STOP_ANNOTATION = "druid.apache.org/replicas-before-stop"
# On a StatefulSet of workers: those that are drained, recorded before they are disabled.
DRAIN_ANNOTATION = "druid.apache.org/drain"
# On a StatefulSet of Historicals: the names that are added to Druid's decommissioningNodes, recorded before that.
DECOMMISSION_ANNOTATION = "druid.apache.org/decommission"
# What is written before an act that depends on it.
RECORD_ANNOTATIONS = (DRAIN_ANNOTATION, DECOMMISSION_ANNOTATION)
# On an orphaned PVC, "yes": it is deleted after a grace period. The Go operator uses the same labels.
TO_BE_DELETED_LABEL = "toBeDeleted"
# On the same PVC: when it was marked, in seconds since 1970.
DELETION_TIME_LABEL = "deletionTS"
# On the same PVC: when we marked it. Without the label, it is not deleted.
ORPHANED_SINCE_ANNOTATION = "druid.apache.org/orphaned-since"
# On a resource that is being deleted, its uid: its PVCs are deleted even if no other object is left.
DELETES_PVCS_ANNOTATION = "druid.apache.org/deletes-pvcs"

CONFIGURATION_HASH_VARIABLE = "configMapSHA"
COMMON_CONFIG_VOLUME = "common-config-volume"
NODE_CONFIG_VOLUME = "nodetype-config-volume"
DRUID_PORT = "druid-port"
SERVICE_PORT = "service-port"

APP_LABEL = "app"
CLUSTER_LABEL = "druid_cr"
GROUP_LABEL = "nodeSpecUniqueStr"
COMPONENT_LABEL = "component"
INSTANCE_LABEL = "app.kubernetes.io/instance"
# A cluster with a longer name has no objects: the name is not a valid label value.
MAX_LABEL_CHARACTERS = 63

# Metadata fields that only the server sets; they are not shown.
BOOKKEEPING = frozenset({"managedFields", "resourceVersion", "generation", "creationTimestamp", "uid"})


def common_config_map_name(cr: str) -> str:
    """Return the name of the ConfigMap that all groups of the cluster mount."""
    return f"{cr}-druid-common-config"


def unique_name(cr: str, key: str) -> str:
    """Return the name of a group's workload, main container, disruption budget, Ingress and autoscaler."""
    return f"druid-{cr}-{key}"


def node_config_map_name(unique: str) -> str:
    """Return the name of a group's own ConfigMap."""
    return f"{unique}-config"


def service_name(template: str | None, unique: str) -> str:
    """Return the name of a Service: the group's own, or the template with the group's name in place of ``%s``."""
    return template.replace("%s", unique) if template else unique


def cluster_labels(cr: str) -> dict[str, str]:
    """Return the labels of all objects of the cluster."""
    return {APP_LABEL: "druid", CLUSTER_LABEL: cr}


def fixed_labels(group: Group) -> dict[str, str]:
    """Return the four labels that identify a group's pods; the selector of a new workload."""
    return {
        **cluster_labels(group.cluster.name),
        GROUP_LABEL: group.unique_name,
        COMPONENT_LABEL: group.node_type,
    }


def group_labels(group: Group) -> dict[str, str]:
    """Return the labels of a group's objects: the user's podLabels, overridden by the four fixed ones."""
    return {**group.merged("podLabels"), **fixed_labels(group)}


def recommended_labels(cr: str, component: str | None = None) -> dict[str, str]:
    """Return the labels that Kubernetes recommends; they are never part of a selector."""
    labels = {
        "app.kubernetes.io/name": "druid",
        INSTANCE_LABEL: cr,
        "app.kubernetes.io/managed-by": FIELD_MANAGER,
    }
    return {**labels, "app.kubernetes.io/component": component} if component else labels


def without_instance(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels of an object without an owner.

    GitOps tools identify the objects that they applied by the instance, and delete those that are not in their
    repository and have no owner, including a PVC with its data.
    """
    return {name: value for name, value in labels.items() if name != INSTANCE_LABEL}
