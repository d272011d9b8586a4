#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This is the documentation of the action plugin of the same name; the code is plugins/action/ingestion.py.

from __future__ import annotations

DOCUMENTATION = r"""
module: ingestion
short_description: Keep what an Apache Druid ingests as a DruidIngestion describes it
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Makes one reconcile of an ingestion. Reads the supervisor or the task in Druid, works out what it should be, and
    writes only what differs. A batch is submitted once for each specification.
  - The ingestion is named by its C(DruidIngestion) resource in the Kubernetes cluster (O(name), O(namespace)), given as
    a resource that is created or updated first (O(resource)), or described by variables without any CRD (O(spec)).
  - What Druid was given last is kept in a ConfigMap C(<name>-ingestion), so that a field that is dropped is noticed,
    and no task is submitted twice.
  - Reads the resource itself. Its text passes through no variable and no template.
  - Runs where the playbook runs (an action plugin); the managed host is not used. The library C(requests) is needed
    there.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - druidops.druid.attributes.action
  - druidops.druid.reconcile
attributes:
  check_mode:
    support: full
    description: Works out the same plan; nothing is written, neither to Kubernetes nor to Druid.
  diff_mode:
    support: full
    description: An entry per thing in Druid that changes. Secrets are masked.
  idempotent:
    support: full
    description: RV(ignore:changed) is true exactly when something was written; status and events do not count.
options:
  name:
    description:
      - Name of the C(DruidIngestion) resource, or of the ingestion that O(spec) describes.
      - Needed unless O(resource) states it.
    type: str
  namespace:
    description:
      - Namespace of the ingestion.
      - Without it what O(resource) states counts, and otherwise V(default).
    type: str
  resource:
    description:
      - A C(DruidIngestion) resource, as a mapping or as the path of a JSON or YAML file on the controller.
      - A relative path is looked for beside the playbook and the role, then where C(ansible-playbook) was started.
      - It is created, or the live one is brought to it (its C(spec) whole, labels and annotations merged); then it is
        reconciled.
      - In check mode it is planned without being sent, also when it is not there yet.
    type: raw
  spec:
    description:
      - The C(spec) of a C(DruidIngestion) resource, for an ingestion without a resource and without CRDs.
      - Validated and coerced by the schema of the CRD. Unknown fields are left out with a warning.
    type: dict
  state:
    description:
      - V(present) reconciles.
      - V(absent) deletes the resource and carries out its finalizer, which ends the supervisor or the task unless
        C(deletionPolicy) is V(Retain). With O(spec) it ends what was made of that.
    type: str
    choices: [present, absent]
    default: present
  url:
    description:
      - Address of Druid as seen from here, in place of what the resource says, for one who is outside of the Kubernetes
        cluster. The credentials that the resource names go there.
    type: str
  wait:
    description:
      - Make further passes until Druid does what is described (O(state=present)), a batch until it has succeeded, or
        until the resource is gone (O(state=absent)).
      - A line is printed whenever the progress changes.
    type: bool
    default: false
  read_timeout:
    description: How long an answer of Druid may take to a request that only reads, in seconds.
    type: float
    default: 120.0
  write_timeout:
    description:
      - How long an answer of Druid may take to a request that may change something, in seconds.
      - It may take Druid 80 to stop a supervisor.
    type: float
    default: 120.0
  retry_timeout:
    description: How long requests that may be repeated are tried again when Druid does not answer, in seconds.
    type: float
    default: 30.0
  reference_namespaces:
    description:
      - Namespaces other than the ingestion's own from which C(auth.secretRef) may take a Secret.
      - V(*) allows all.
    type: list
    elements: str
    default: []
seealso:
  - module: druidops.druid.supervisor
  - module: druidops.druid.task
"""

EXAMPLES = r"""
- name: Reconcile the ingestion that the DruidIngestion resource describes
  druidops.druid.ingestion:
    name: pages
    namespace: druid

- name: Create the resource of a file, or update it, and wait until rows are read
  druidops.druid.ingestion:
    resource: files/pages.yml
    wait: true

- name: Keep a supervisor without CRDs
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

- name: End it
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
plan:
  description: What was done, or would be in check mode, a line each.
  type: list
  elements: str
  returned: always
  sample: ["set the finalizer", "create supervisor pages", "create ConfigMap with the applied spec"]
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
  description: What Druid says of it. C(taskId) names the supervisor or the task.
  type: dict
  returned: when the ingestion was reconciled
  sample: {"taskId": "pages", "state": "RUNNING", "detailedState": "RUNNING", "suspended": false, "lag": 0}
requeue_after:
  description: Seconds after which it is worth looking again; none when there is nothing to wait for.
  type: int
  returned: when the ingestion was reconciled
"""
