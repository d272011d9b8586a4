#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This is the documentation of the action plugin of the same name; the code is plugins/action/ingestion.py.

from __future__ import annotations

DOCUMENTATION = r"""
module: ingestion
short_description: Manage an ingestion of Apache Druid, as a DruidIngestion defines it
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Reconciles an ingestion once. Reads the supervisor or the task in Druid, computes the desired state, and writes only
    the differences. A batch is submitted once for each specification.
  - The ingestion is defined by an existing C(DruidIngestion) resource (O(name), O(namespace)), by a resource that is
    created or updated first (O(resource)), or by variables without any CRD (O(spec)).
  - The last applied specification is stored in a ConfigMap C(<name>-ingestion), so that removed fields are detected and
    no task is submitted twice.
  - Reads the resource itself. Its content is not processed by Ansible variables or templates.
  - Runs on the controller (an action plugin), which requires the library C(requests). The managed host is not used.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - druidops.druid.attributes.action
  - druidops.druid.reconcile
  - druidops.druid.reconcile.endpoint
  - druidops.druid.unknown_fields
attributes:
  check_mode:
    support: full
    description: Computes the same plan. Nothing is written, neither to Kubernetes nor to Druid.
  diff_mode:
    support: full
    description: Contains an entry per change in Druid. Secrets are masked.
  idempotent:
    support: full
    description: RV(ignore:changed) is true only if something was written. Status and events are ignored.
options:
  name:
    description:
      - Name of the C(DruidIngestion) resource, or of the ingestion that O(spec) defines.
      - Required unless O(resource) contains it.
    type: str
  namespace:
    description:
      - Namespace of the ingestion.
      - The default is the namespace in O(resource), otherwise V(default).
    type: str
  resource:
    description:
      - A C(DruidIngestion) resource, as a mapping or as the path of a JSON or YAML file on the controller.
      - A relative path is resolved relative to the playbook and the role, then to the working directory of
        C(ansible-playbook).
      - Of several YAML documents, or a C(List) of Kubernetes, the only C(DruidIngestion) is used, or the one with the
        O(name). The others are named, and not applied.
      - The status, and the metadata that the API server or a controller writes, are left out, so that the output of
        C(kubectl get --output yaml) can be used.
      - The resource is created or updated (its C(spec) is replaced, labels and annotations are merged), and then
        reconciled.
      - In check mode the changes are computed, and the resource is not sent, even if it does not exist yet.
    type: raw
  spec:
    description:
      - The C(spec) of a C(DruidIngestion) resource, for an ingestion without a resource and without CRDs.
      - A mapping, or a JSON or YAML string of one.
      - Validated and coerced with the schema of the CRD. Unknown fields are ignored with a warning.
    type: raw
  state:
    description:
      - V(present) reconciles the ingestion.
      - V(absent) deletes the resource and runs its finalizer, which terminates the supervisor or the task unless
        C(deletionPolicy) is V(Retain). With O(spec) it terminates the supervisor or the task that was created from it.
    type: str
    choices: [present, absent]
    default: present
  url:
    description:
      - URL of Druid as seen from the controller, instead of the one in the resource. Required outside of the Kubernetes
        cluster. The credentials in the resource are sent there.
    type: str
  wait:
    description:
      - Reconcile until the supervisor is in the desired state or the batch has succeeded (O(state=present)), or until
        the resource is deleted (O(state=absent)).
      - A line is printed whenever the progress changes.
    type: bool
    default: false
  read_timeout:
    description:
      - Timeout for a response of Druid, in seconds.
      - Druid may take 80 seconds to stop a supervisor.
    type: float
    default: 120.0
    aliases: [timeout]
  retry_timeout:
    description: How long idempotent requests are retried if Druid does not respond, in seconds.
    type: float
    default: 30.0
  allowed_reference_namespaces:
    description:
      - Namespaces other than the ingestion's own from which C(auth.secretRef) may reference a Secret.
      - V(*) allows all.
    type: list
    elements: str
    default: []
seealso:
  - module: druidops.druid.supervisor
  - module: druidops.druid.task
"""

EXAMPLES = r"""
- name: Reconcile the ingestion of an existing DruidIngestion resource
  druidops.druid.ingestion:
    name: pages
    namespace: druid

- name: Create or update a resource from a file, and wait until the supervisor is running
  druidops.druid.ingestion:
    resource: files/pages.yml
    wait: true

- name: Manage a supervisor without CRDs
  druidops.druid.ingestion:
    name: pages
    namespace: druid
    spec:
      endpoint:
        url: https://druid.example.com:9088
        caSecretRef:
          name: druid-ca
          key: ca.crt
      auth:
        type: basic-auth
        secretRef:
          name: druid-user
      ingestion:
        type: kafka
        nativeSpec: "{{ lookup('ansible.builtin.file', 'pages.json') | from_json }}"

- name: Terminate it
  druidops.druid.ingestion:
    name: pages
    namespace: druid
    state: absent
    wait: true
"""

RETURN = r"""
name:
  description: Name of the ingestion.
  type: str
  returned: always
namespace:
  description: Namespace of the ingestion.
  type: str
  returned: always
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
  sample: "DruidIngestion pages, namespace druid, context production, server https://203.0.113.7:6443"
plan:
  description: The changes that were made, or would be in check mode, one per line.
  type: list
  elements: str
  returned: always
  sample: ["set the finalizer", "create supervisor pages", "create ConfigMap with the applied spec"]
destructive:
  description: Whether offsets are reset, so that records are skipped or read again, or would be in check mode.
  type: bool
  returned: when the options are valid
generation:
  description: The generation of the resource that was reconciled.
  type: int
  returned: when the ingestion was reconciled
ready:
  description: Whether the condition Ready is true.
  type: bool
  returned: when the ingestion was reconciled
conditions:
  description: The conditions Ready, Progressing, Suspended and Degraded, as in the status of the resource.
  type: list
  elements: dict
  returned: when the ingestion was reconciled
ingestion:
  description: The status that Druid reports. C(taskId) is the id of the supervisor or the task.
  type: dict
  returned: when the ingestion was reconciled
  sample: {"taskId": "pages", "state": "RUNNING", "detailedState": "RUNNING", "suspended": false, "lag": 0}
requeue_after:
  description: Seconds until the next reconcile is useful; none if there is nothing to wait for.
  type: int
  returned: when the ingestion was reconciled
"""
