#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This is the documentation of the action plugin of the same name; the code is plugins/action/druid_object.py.

from __future__ import annotations

DOCUMENTATION = r"""
module: druid_object
short_description: Reconcile a resource that describes an object in Apache Druid, such as a DruidLookup
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Reconciles a resource once, as the operator does. Reads the object in Druid, computes the desired state, and writes
    only the differences.
  - The object is defined by an existing resource (O(name), O(namespace)), by a resource that is created or updated
    first (O(resource)), or by variables without any CRD (O(spec)).
  - An annotation of the resource names what it has submitted. Only that is removed when the resource is deleted.
  - Reads the resource itself. Its content is not processed by Ansible variables or templates.
  - Runs on the controller (an action plugin), which requires the library C(requests). The managed host is not used.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - druidops.druid.attributes.action
  - druidops.druid.reconcile
  - druidops.druid.reconcile.endpoint
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
  kind:
    description: Kind of the resource.
    type: str
    choices: [DruidLookup, DruidRole, DruidUser]
    required: true
  name:
    description:
      - Name of the resource, or of the object that O(spec) defines.
      - Required unless O(resource) contains it.
    type: str
  namespace:
    description:
      - Namespace of the resource.
      - The default is the namespace in O(resource), otherwise V(default).
    type: str
  resource:
    description:
      - A resource of the O(kind), as a mapping or as the path of a JSON or YAML file on the controller.
      - A relative path is resolved relative to the playbook and the role, then to the working directory of
        C(ansible-playbook).
      - Of several YAML documents, or a C(List) of Kubernetes, the only one of the kind is used, or the one with the
        O(name). The others are named, and not applied.
      - The resource is created or updated (its C(spec) is replaced, labels and annotations are merged), and then
        reconciled.
      - In check mode the changes are computed, and the resource is not sent, even if it does not exist yet.
    type: raw
  spec:
    description:
      - The C(spec) of a resource, without a resource and without CRDs. A mapping, or a JSON or YAML string of one.
      - The modules on Druid's API, such as M(druidops.druid.lookup), do the same without Kubernetes.
    type: raw
  state:
    description:
      - V(present) reconciles the resource.
      - V(absent) deletes the resource and runs its finalizer, which removes the object in Druid unless
        C(deletionPolicy) is V(Retain). With O(spec) it removes the object that this describes.
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
      - Reconcile until the object is as specified and in effect (O(state=present)), or until the resource is deleted
        (O(state=absent)).
      - A line is printed whenever the progress changes.
    type: bool
    default: false
  read_timeout:
    description: Timeout for a response of Druid, in seconds.
    type: float
    default: 120.0
    aliases: [timeout]
  retry_timeout:
    description: How long idempotent requests are retried if Druid does not respond, in seconds.
    type: float
    default: 30.0
  allowed_reference_namespaces:
    description:
      - Namespaces other than the resource's own from which C(auth.secretRef) may reference a Secret.
      - V(*) allows all.
    type: list
    elements: str
    default: []
seealso:
  - module: druidops.druid.lookup
  - module: druidops.druid.role
  - module: druidops.druid.user
"""

EXAMPLES = r"""
- name: Reconcile an existing DruidLookup resource
  druidops.druid.druid_object:
    kind: DruidLookup
    name: countries
    namespace: druid

- name: Create or update a resource from a file, and wait until the servers have loaded the lookup
  druidops.druid.druid_object:
    kind: DruidLookup
    resource: files/countries.yml
    wait: true
"""

RETURN = r"""
name:
  description: Name of the resource.
  type: str
  returned: always
namespace:
  description: Namespace of the resource.
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
  sample: "DruidLookup countries, namespace druid, context production, server https://203.0.113.7:6443"
plan:
  description: The changes that were made, or would be in check mode, one per line.
  type: list
  elements: str
  returned: always
  sample: ["set the finalizer", "record what is submitted", "create lookup countries of tier __default"]
destructive:
  description: Always false, since no data is lost with an object that is removed in Druid.
  type: bool
  returned: when the options are valid
generation:
  description: The generation of the resource that was reconciled.
  type: int
  returned: when the resource was reconciled
ready:
  description: Whether the condition Ready is true.
  type: bool
  returned: when the resource was reconciled
conditions:
  description: The conditions Ready, Progressing and Degraded, as in the status of the resource.
  type: list
  elements: dict
  returned: when the resource was reconciled
object:
  description: The object in Druid, as the status of the resource has it.
  type: dict
  returned: when the resource was reconciled
  sample: {"id": "countries", "tier": "__default", "version": "2026-01-01T00:00:00.000Z"}
requeue_after:
  description: Seconds until the next reconcile is useful; none if there is nothing to wait for.
  type: int
  returned: when the resource was reconciled
"""
