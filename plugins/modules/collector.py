#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This is the documentation of the action plugin of the same name; the code is plugins/action/collector.py.

from __future__ import annotations

DOCUMENTATION = r"""
module: collector
short_description: Manage a collector of metrics, logs and traces with Helm, as a Collector defines it
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Reconciles a C(Collector) once. Installs or upgrades its Helm release if the chart or its values differ, and
    restores objects of the release that were changed or deleted.
  - The Collector is defined by an existing C(Collector) resource (O(name), O(namespace)), by a resource that is
    created or updated first (O(resource)), or by variables without any CRD (O(spec)).
  - Reads the resource itself. Its content is not processed by Ansible variables or templates. The values are handed
    to Helm in a file that only the current user can read, and that is deleted afterwards.
  - Helm runs in the modules M(kubernetes.core.helm) and M(kubernetes.core.helm_template).
  - Runs on the controller (an action plugin). The managed host is not used.
requirements:
  - Helm 3 on the controller
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - druidops.druid.attributes.action
  - druidops.druid.reconcile
attributes:
  check_mode:
    support: full
    description: Computes the same plan. The chart is rendered, and nothing is written.
  diff_mode:
    support: full
    description: Contains an entry per object. Secrets are masked.
  idempotent:
    support: full
    description: RV(ignore:changed) is true only if something was written. Status and events are ignored.
options:
  name:
    description:
      - Name of the C(Collector) resource, or of the Collector that O(spec) defines.
      - Required unless O(resource) contains it.
    type: str
  namespace:
    description:
      - Namespace of the Collector.
      - The default is the namespace in O(resource), otherwise V(default).
    type: str
  resource:
    description:
      - A C(Collector) resource, as a mapping or as the path of a JSON or YAML file on the controller.
      - A relative path is resolved relative to the playbook and the role, then to the working directory of
        C(ansible-playbook).
      - Of several YAML documents, or a C(List) of Kubernetes, the only C(Collector) is used, or the one with the
        O(name). The others are named, and not applied.
      - The status, and the metadata that the API server or a controller writes, are left out, so that the output of
        C(kubectl get --output yaml) can be used.
      - The resource is created or updated (its C(spec) is replaced, labels and annotations are merged), and then
        reconciled.
      - In check mode the changes are computed, and the resource is not sent, even if it does not exist yet.
    type: raw
  spec:
    description:
      - The C(spec) of a C(Collector) resource, for a Collector without a resource and without CRDs.
      - A mapping, or a JSON or YAML string of one.
      - Validated and coerced with the schema of the CRD. Unknown fields are ignored with a warning.
    type: raw
  state:
    description:
      - V(present) reconciles the Collector.
      - V(absent) deletes the resource and runs its finalizer, which uninstalls the release unless C(deletionPolicy) is
        V(Retain). With O(spec) it uninstalls the release that was created from it.
    type: str
    choices: [present, absent]
    default: present
  wait:
    description:
      - Reconcile until the release is as specified and its pods are available (O(state=present)), or until the resource
        is deleted (O(state=absent)).
      - A line is printed whenever the progress changes.
    type: bool
    default: false
  allowed_reference_namespaces:
    description: Not used. References are always to the namespace of the Collector.
    type: list
    elements: str
    default: []
  allowed_tenant_namespaces:
    description:
      - Namespaces other than the Collector's own in which C(tenant) may place the release.
      - V(*) allows all.
    type: list
    elements: str
    default: []
  allowed_chart_repositories:
    description:
      - Addresses of the repositories whose charts C(chart) may name, such as V(https://charts.example.com) or
        V(oci://registry.example.com/charts). They are compared as a whole.
      - The default chart is a directory, and needs no repository.
    type: list
    elements: str
    default: []
  allow_cluster_scoped_objects:
    description:
      - Allow charts with objects that belong to no namespace, and have Helm install the CRDs of charts.
    type: bool
    default: false
  chart:
    description:
      - Path of a directory on the controller with the default chart, with only letters, digits and C(/._+-) in it.
      - The default is the chart C(druid-collector) of this collection.
    type: str
  helm_binary:
    description: Path of the program C(helm) on the controller. By default it is searched on the E(PATH).
    type: str
  helm_registry_config:
    description:
      - Absolute path of a file on the controller with the credentials of OCI registries, in the format of Docker's
        C(config.json). By default, Helm has no credentials.
    type: str
  helm_timeout:
    description: How long Helm waits for each hook of a chart, in seconds.
    type: int
    default: 120
  tenant_service_account:
    description:
      - Name of a ServiceAccount in the namespace of the release. Helm acts as that account (impersonation), and so does
        this action when it compares and restores objects of the release, so that a chart has its permissions only.
      - By default, both act as the user of this task.
    type: str
    default: ""
seealso:
  - module: kubernetes.core.helm
"""

EXAMPLES = r"""
- name: Reconcile an existing Collector resource
  druidops.druid.collector:
    name: telemetry
    namespace: druid

- name: Create or update a resource from a file, and wait until the pods are available
  druidops.druid.collector:
    resource: files/telemetry.yml
    wait: true

- name: Manage a collector without CRDs
  druidops.druid.collector:
    name: telemetry
    namespace: druid
    spec:
      collector:
        name: telemetry
        version: 0.149.0
      cluster: wiki

- name: Uninstall it
  druidops.druid.collector:
    name: telemetry
    namespace: druid
    state: absent
    wait: true
"""

RETURN = r"""
name:
  description: Name of the Collector.
  type: str
  returned: always
namespace:
  description: Namespace of the Collector.
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
  sample: "Collector telemetry, namespace druid, context production, server https://203.0.113.7:6443"
plan:
  description: The changes that were made, or would be in check mode, one per line.
  type: list
  elements: str
  returned: always
  sample: ["set the finalizer", "install release telemetry of chart druid-collector-0.1.0"]
destructive:
  description:
    - Whether Helm deletes an object with data, or would in check mode. These are PersistentVolumeClaims,
      PersistentVolumes, Namespaces and CustomResourceDefinitions, without the annotation that keeps them.
  type: bool
  returned: when the options are valid
generation:
  description: The generation of the resource that was reconciled.
  type: int
  returned: when the Collector was reconciled
ready:
  description: Whether the condition Ready is true.
  type: bool
  returned: when the Collector was reconciled
conditions:
  description: The conditions Ready, Progressing and Degraded, as in the status of the resource.
  type: list
  elements: dict
  returned: when the Collector was reconciled
release:
  description: The Helm release, as in the status of the resource.
  type: dict
  returned: when there is a release
  sample: {"name": "telemetry", "namespace": "druid", "revision": 1, "chart": "druid-collector-0.1.0"}
requeue_after:
  description: Seconds until the next reconcile is useful; none if there is nothing to wait for.
  type: int
  returned: when the Collector was reconciled
"""
