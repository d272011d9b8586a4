#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This is the documentation of the action plugin of the same name; the code is plugins/action/cluster.py.

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster
short_description: Keep an Apache Druid cluster on Kubernetes as its specification wants it
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Makes one reconcile of a Druid cluster. Observes what is there, works out what should be there, and writes what
    differs, with server-side apply, each group whole or not at all.
  - The cluster is named by its C(Druid) resource in the Kubernetes cluster (O(name), O(namespace)), given as a resource
    that is created or updated first (O(resource)), or described by variables without any CRD (O(spec)).
  - Keeps the dynamic configurations of Druid, too, that the specification states (C(dynamicConfig)), once its pods are
    ready.
  - Reads the resource itself. Its text passes through no variable and no template.
  - Runs where the playbook runs (an action plugin); the managed host is not used.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - druidops.druid.attributes.action
  - druidops.druid.reconcile
attributes:
  check_mode:
    support: full
    description: Works out the same plan, judged by dry runs of the API server; nothing persists.
  diff_mode:
    support: full
    description:
      - An entry per object, then one that lists what restarts and in which order, then one per dynamic configuration.
      - Secrets are masked.
  idempotent:
    support: full
    description:
      - RV(ignore:changed) is true exactly when an object was written, or something in Druid; status and events do not
        count.
options:
  name:
    description:
      - Name of the C(Druid) resource, or of the cluster that O(spec) describes.
      - Needed unless O(resource) states it.
    type: str
  namespace:
    description:
      - Namespace of the cluster.
      - Without it what O(resource) states counts, and otherwise V(default).
    type: str
  resource:
    description:
      - A C(Druid) resource, as a mapping or as the path of a JSON or YAML file on the controller.
      - A relative path is looked for beside the playbook and the role, then where C(ansible-playbook) was started.
      - It is created, or the live one is brought to it (its C(spec) whole, labels and annotations merged); then it is
        reconciled.
      - In check mode it is planned against the live cluster without being sent, also when it is not there yet.
      - The text of a file arrives verbatim. A mapping in a playbook is its author's text and follows Ansible's
        templating.
    type: raw
  spec:
    description:
      - The C(spec) of a C(Druid) resource, for a cluster without a resource and without CRDs.
      - Validated, defaulted and coerced by the schema of the CRD. Unknown fields are left out with a warning.
    type: dict
  by_variable:
    description:
      - Says that the cluster is one that was made of O(spec), when O(state=absent) comes without O(spec).
      - Without O(spec) nobody has said what becomes of the claims, so they are kept, and named in a warning.
    type: bool
    default: false
  state:
    description:
      - V(present) reconciles.
      - V(absent) deletes the resource and carries out its finalizer, or deletes what was made of O(spec).
      - Claims and the data in their volumes go with it unless C(disablePVCDeletionFinalizer) is set in the
        specification; each is named before it is deleted. A claim that others may need is kept, and named in a warning.
      - With O(spec) or O(by_variable) nothing is deleted as long as a C(Druid) resource of that name exists. Without
        them nothing is deleted of a cluster that was made of O(spec), and a warning says that it is there.
    type: str
    choices: [present, absent]
    default: present
  url:
    description:
      - Address of Druid as seen from here, in place of the Service of the cluster's routers, for one who is outside of
        the Kubernetes cluster, and for a cluster that is made of O(spec). The credentials that C(auth) names go there.
      - It matters only where the resource states a C(dynamicConfig).
    type: str
  wait:
    description:
      - Make further passes until the cluster is Ready (O(state=present)) or gone (O(state=absent)).
      - A cluster that is stopped is waited for until no pod is left. While a cluster is paused, the wait is for the
        pods that it has, and a warning names the changes that wait.
      - A line is printed whenever the progress changes.
    type: bool
    default: false
  read_timeout:
    description:
      - How long an answer of Druid may take, in seconds.
      - Druid is asked last, and only where the resource states a C(dynamicConfig).
    type: float
    default: 10.0
  retry_timeout:
    description: How long requests that may be repeated are tried again when Druid does not answer, in seconds.
    type: float
    default: 5.0
  reference_namespaces:
    description:
      - Namespaces other than the cluster's own from which C(extraCommonConfig) may take ConfigMaps, and C(auth) its
        Secret. A Secret in C(extraCommonConfig) has to be in the cluster's own.
      - V(*) allows all.
    type: list
    elements: str
    default: []
  keep_finalizer:
    description:
      - Have the resource keep its finalizer also when C(disablePVCDeletionFinalizer) is set; claims stay all the same.
      - The operator sets this to V(true), since ansible-operator runs nothing for a deleted resource without finalizer.
    type: bool
    default: false
seealso:
  - module: druidops.druid.cluster_info
"""

EXAMPLES = r"""
- name: Reconcile the cluster that the Druid resource describes
  druidops.druid.cluster:
    name: wiki
    namespace: druid

- name: Create the resource of a file, or update it, and wait until the cluster is ready
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

- name: Take it away again, with its data
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
  returned: when the task could be begun
namespace:
  description: Namespace of the cluster.
  type: str
  returned: when the task could be begun
changed:
  description: Whether something was written, or would be in check mode; status and events do not count.
  type: bool
  returned: always
plan:
  description:
    - What was done, or would be in check mode, a line each.
    - Then what restarts in which order, what was changed in Druid, and what is held back.
  type: list
  elements: str
  returned: always
  sample: ["change ConfigMap druid-wiki-brokers-config", "change StatefulSet druid-wiki-brokers",
    "restart 1: group brokers (StatefulSet druid-wiki-brokers), 2 pods"]
diff:
  description:
    - For each line of RV(plan) that changes something, what was there and what is there, or would be, as YAML. Secrets
      are masked.
    - Before what changes in Druid itself comes, in C(prepared), what restarts in which order.
  type: list
  elements: dict
  returned: when the task could be begun
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
generation:
  description: The generation of the resource that was reconciled.
  type: int
  returned: when the cluster was reconciled
ready:
  description: Whether the condition Ready is true.
  type: bool
  returned: when the cluster was reconciled
nodes:
  description: Druid nodes that are ready, and that are wanted.
  type: str
  returned: when the cluster was reconciled
  sample: 5/6
conditions:
  description: The conditions Ready, Progressing, Degraded and Paused, as in the status of the resource.
  type: list
  elements: dict
  returned: when the cluster was reconciled
requeue_after:
  description: Seconds after which a look is worth while; none when the cluster is ready.
  type: int
  returned: when the cluster was reconciled
"""
