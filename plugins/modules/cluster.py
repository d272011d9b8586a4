#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This is the documentation of the action plugin of the same name; the code is plugins/action/cluster.py.

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster
short_description: Manage an Apache Druid cluster on Kubernetes
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Reconciles a Druid cluster once. Observes the current state, computes the desired state, and writes the differences
    with server-side apply. The ConfigMap, Services, PVCs and workload of a group are written all-or-nothing.
  - The cluster is defined by an existing C(Druid) resource (O(name), O(namespace)), by a resource that is created or
    updated first (O(resource)), or by variables without any CRD (O(spec)).
  - Also manages the dynamic configurations of Druid in the specification (C(dynamicConfig)), once the pods are ready.
  - Reads the resource itself. Its content is not processed by Ansible variables or templates.
  - Runs on the controller (an action plugin). The managed host is not used.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - druidops.druid.attributes.action
  - druidops.druid.reconcile
  - druidops.druid.reconcile.endpoint
attributes:
  check_mode:
    support: full
    description: Computes the same plan, validated by dry runs of the API server. Nothing is persisted.
  diff_mode:
    support: full
    description:
      - Contains an entry per object, then one that lists the restarts in their order, then one per dynamic
        configuration.
      - Secrets are masked.
  idempotent:
    support: full
    description:
      - RV(ignore:changed) is true only if an object or a configuration in Druid was written. Status and events are
        ignored.
options:
  name:
    description:
      - Name of the C(Druid) resource, or of the cluster that O(spec) defines.
      - Required unless O(resource) contains it.
    type: str
  namespace:
    description:
      - Namespace of the cluster.
      - The default is the namespace in O(resource), otherwise V(default).
    type: str
  resource:
    description:
      - A C(Druid) resource, as a mapping or as the path of a JSON or YAML file on the controller.
      - A relative path is resolved relative to the playbook and the role, then to the working directory of
        C(ansible-playbook).
      - Of several YAML documents, or a C(List) of Kubernetes, the only C(Druid) is used, or the one with the
        O(name). The others are named, and not applied.
      - The status, and the metadata that the API server or a controller writes, are left out, so that the output of
        C(kubectl get --output yaml) can be used.
      - The resource is created or updated (its C(spec) is replaced, labels and annotations are merged), and then
        reconciled.
      - In check mode the changes are computed against the live cluster, and the resource is not sent, even if it does
        not exist yet.
      - The content of a file is used verbatim. A mapping in a playbook is subject to Ansible's templating.
    type: raw
  spec:
    description:
      - The C(spec) of a C(Druid) resource, for a cluster without a resource and without CRDs.
      - A mapping, or a JSON or YAML string of one.
      - Validated, defaulted and coerced with the schema of the CRD. Unknown fields are ignored with a warning.
    type: raw
  without_resource:
    description:
      - Set this with O(state=absent) and without O(spec), to delete a cluster that was created from O(spec).
      - Without O(spec) the deletion policy of the PVCs is unknown, so they are kept. A warning lists them.
    type: bool
    default: false
  state:
    description:
      - V(present) reconciles the cluster.
      - V(absent) deletes the resource and runs its finalizer, or deletes the objects that were created from O(spec).
      - PVCs and the data in their volumes are deleted as well, unless C(disablePVCDeletionFinalizer) is set in the
        specification. Each PVC is listed before it is deleted. A PVC that other workloads may use is kept, with a
        warning.
      - With O(spec) or O(without_resource), nothing is deleted while a C(Druid) resource of that name exists.
      - Without them, a cluster that was created from O(spec) is not deleted, and a warning reports that it exists.
    type: str
    choices: [present, absent]
    default: present
  url:
    description:
      - URL of Druid as seen from the controller, instead of the Service of the cluster's routers. Required outside of
        the Kubernetes cluster, and for a cluster that is defined by O(spec). The credentials in C(auth) are sent there.
      - Used if the resource contains C(dynamicConfig), and in a rollout, whose next group waits until Druid has
        recovered.
    type: str
  wait:
    description:
      - Reconcile until the cluster is Ready (O(state=present)) or deleted (O(state=absent)).
      - For a stopped cluster, wait until no pod is left. For a paused cluster, wait for its current pods. A warning
        lists the pending changes.
      - A line is printed whenever the progress changes.
      - The task fails before the timeout if a pod of the current revision will not start by itself
        (O(wait_for_recovery)).
    type: bool
    default: false
  wait_for_recovery:
    description:
      - With O(wait=true), wait although a pod of the current revision has not been ready for a minute, and has crashed
        three times, or waits for an image, a Secret or something else that does not exist.
      - For pods that crash until something outside of the cluster is ready, such as its metadata store.
    type: bool
    default: false
  read_timeout:
    description:
      - Timeout for a response of Druid, in seconds.
      - Druid is contacted if the resource contains C(dynamicConfig), and in a rollout.
    type: float
    default: 10.0
    aliases: [timeout]
  retry_timeout:
    description: How long idempotent requests are retried if Druid does not respond, in seconds.
    type: float
    default: 5.0
  allowed_reference_namespaces:
    description:
      - Namespaces other than the cluster's own from which C(extraCommonConfig) may reference ConfigMaps, and C(auth) a
        Secret. A Secret in C(extraCommonConfig) must be in the cluster's own namespace.
      - V(*) allows all.
    type: list
    elements: str
    default: []
seealso:
  - module: druidops.druid.cluster_info
"""

EXAMPLES = r"""
- name: Reconcile the cluster of an existing Druid resource
  druidops.druid.cluster:
    name: wiki
    namespace: druid

- name: Create or update a resource from a file, and wait until the cluster is ready
  druidops.druid.cluster:
    resource: files/wiki.yml
    wait: true
    wait_timeout: 900

- name: Run a cluster without CRDs
  druidops.druid.cluster:
    name: small
    namespace: druid
    spec:
      image: apache/druid:33.0.0
      common.runtime.properties: |
        druid.zk.service.host=zookeeper
      nodes:
        brokers:
          nodeType: broker
          druid.port: 8082
          replicas: 2
          nodeConfigMountPath: /opt/druid/conf/druid/cluster/query/broker
          runtime.properties: druid.service=druid/broker

- name: Delete a cluster with its data
  druidops.druid.cluster:
    name: wiki
    namespace: druid
    state: absent
    wait: true
"""

RETURN = r"""
name:
  description: Name of the cluster.
  type: str
  returned: when the options are valid
namespace:
  description: Namespace of the cluster.
  type: str
  returned: when the options are valid
context:
  description: The context of the kubeconfig. Empty without a kubeconfig.
  type: str
  returned: when the options are valid
server:
  description: The URL of the API server.
  type: str
  returned: when the options are valid
target:
  description: What the result is about, in one line.
  type: str
  returned: when the options are valid
  sample: "Druid wiki, namespace druid, context production, server https://203.0.113.7:6443"
changed:
  description: Whether anything was written, or would be in check mode. Status and events are ignored.
  type: bool
  returned: always
plan:
  description:
    - The changes that were made, or would be in check mode, one per line.
    - Then the restarts in their order, what else happens because of the changes, the changes in Druid, and the blocked
      changes. A line for a change that deletes a PVC, or marks it to be deleted later, ends in C((destructive\)),
      and so does one for the deletion of the last group of a role that others need.
  type: list
  elements: str
  returned: always
  sample: ["update ConfigMap druid-wiki-brokers-config", "update StatefulSet druid-wiki-brokers",
    "restart 1: group brokers (StatefulSet druid-wiki-brokers), 2 pods"]
diff:
  description:
    - The object before and after each change in RV(plan) as YAML, predicted in check mode. Secrets are masked.
    - A change that deletes a PVC, marks it to be deleted later, or makes Kubernetes delete it, has C(destructive=true),
      and so has the deletion of the last group of a role that others need.
    - The restarts in their order, and what else happens, are in C(prepared), before the changes in Druid.
  type: list
  elements: dict
  returned: when the options are valid
  sample:
    - before_header: ConfigMap druid/druid-wiki-brokers-config
      after_header: ConfigMap druid/druid-wiki-brokers-config
      before: |
        apiVersion: v1
        data:
          runtime.properties: druid.service=old
        kind: ConfigMap
      after: |
        apiVersion: v1
        data:
          runtime.properties: druid.service=new
        kind: ConfigMap
destructive:
  description:
    - Whether a PVC was deleted, or would be in check mode, by a change or because of it.
    - Also true if a PVC becomes orphaned or was marked, and later runs delete it.
    - Also true if the last group of a role that others need is deleted, such as that of the Brokers.
  type: bool
  returned: when the options are valid
generation:
  description: The generation of the resource that was reconciled.
  type: int
  returned: when the cluster was reconciled
ready:
  description: Whether the condition Ready is true.
  type: bool
  returned: when the cluster was reconciled
nodes:
  description: The numbers of ready and of desired pods.
  type: str
  returned: when the cluster was reconciled
  sample: 5/6
conditions:
  description:
    - The conditions Ready, Progressing, Degraded and Paused, as in the status of the resource.
    - While there are warnings about the specification, also the condition Warnings, and while changes make a part of
      Druid unavailable, RolloutWarnings.
  type: list
  elements: dict
  returned: when the cluster was reconciled
requeue_after:
  description: Seconds until the next reconcile is useful; none if the cluster is ready.
  type: int
  returned: when the cluster was reconciled
"""
