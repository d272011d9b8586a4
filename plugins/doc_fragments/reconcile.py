# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of the actions that reconcile. The argument spec is plugin_utils/_reconcile/request.py: ARGUMENTS."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment ``druidops.druid.reconcile``."""

    DOCUMENTATION = r"""
options:
  wait_timeout:
    description: How long to wait, in seconds.
    type: int
    default: 600
  wait_sleep:
    description: Pause between two reconciles while waiting, in seconds.
    type: int
    default: 2
  fail_when_blocked:
    description:
      - Fail if changes are blocked, after the conditions have been written.
      - The operator sets this to V(false). Problems are then reported only in the conditions.
    type: bool
    default: true
  ignored_namespaces:
    description:
      - Namespaces whose resources are ignored; the task is then skipped. For the operator.
      - If such a resource is being deleted, its finalizer is removed after 30 seconds if ansible-operator has set it
        (according to C(managedFields)), since nothing else would remove it, and an event is written. Nothing else is
        changed.
    type: list
    elements: str
    default: []
  refuse_own_host:
    description:
      - Reject an address of Druid, from the resource or its Services, that points to the host where the task runs, or
        is link-local, that of a cloud's metadata service, or that of the Kubernetes API server. The address of the open
        connection counts, not the host name.
      - The operator sets this to V(true), since the author of a resource must not reach the other servers of its pod.
    type: bool
    default: false
  log:
    description:
      - Path of a file to which one line of JSON is appended, with the resource, the changes, the duration in seconds,
        and what the resource is waiting for.
    type: str
  cache_kubeconfig:
    description:
      - Path of a kubeconfig for a proxy that serves reads from a cache, such as the one that ansible-operator sets in
        E(K8S_AUTH_KUBECONFIG) for every run.
      - The current state is first read from the cache. Only if changes in Kubernetes or in Druid are needed, it is read
        again from the API server, and the changes are computed from that state. Secrets are never read through the
        cache.
      - If this option is set, E(K8S_AUTH_KUBECONFIG) is not the default of O(kubeconfig).
    type: str
  metrics_url:
    description:
      - URL to which the metrics of each reconcile are posted, such as V(http://localhost:5050/metrics) of
        ansible-operator.
      - Takes at most a few seconds, and never fails the task. Errors are reported in the line of O(log).
      - Not used in check mode.
    type: str
  metrics_namespaces:
    description:
      - Namespaces whose resources of the same kind are counted for the metrics, read through O(cache_kubeconfig).
      - An empty list selects all namespaces.
    type: list
    elements: str
    default: []
  ignored_variables:
    description:
      - Set by the role. Names of variables that begin with the prefix of the role's variables, and that are not the
        role's. Any other unknown variable with that prefix is rejected if it is within two edits of a known one,
        otherwise a warning reports it.
      - If this option is not set, variables are not checked.
    type: list
    elements: str
"""

    ENDPOINT = r"""
options:
  allowed_endpoint_hosts:
    description:
      - Hosts (C(host) or C(host:port)) to which C(endpoint.url) of the resource may send the credentials of any Secret.
        V(*) allows all.
      - To any other host, credentials are sent only if the Secret has it in its annotation
        C(druid.apache.org/allowed-hosts), a list that is separated by commas. An author of resources is not
        necessarily allowed to read the Secret.
      - Not needed for the address in O(url), nor for the Service of a router.
    type: list
    elements: str
    default: []
"""
