# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of the actions that reconcile. The argument spec is plugin_utils/_reconcile/action_options.py: OPTIONS."""

from __future__ import annotations


class ModuleDocFragment:
    """What a module gets by ``extends_documentation_fragment: druidops.druid.reconcile``."""

    DOCUMENTATION = r"""
options:
  wait_timeout:
    description: How long to wait, in seconds.
    type: int
    default: 600
  wait_sleep:
    description: Pause between two passes while waiting, in seconds.
    type: int
    default: 2
  fail_on_problem:
    description:
      - Fail when something stands in the way, after the condition has been written.
      - The operator sets this to V(false); what is in the way is then in the conditions only.
    type: bool
    default: true
  log:
    description:
      - Path of a file to which one line of JSON is added. What resource it was, what was done, how long it took in
        seconds, what is awaited.
    type: str
  cache_kubeconfig:
    description:
      - Path of a kubeconfig that leads to a proxy which answers reads from a cache, as ansible-operator gives it to
        every run in E(K8S_AUTH_KUBECONFIG).
      - The first look is at the cache; only when there is anything to do, in Kubernetes or in Druid, a second one is at
        the API server itself, and it is decided on that one. Secrets are never read through the cache.
      - E(K8S_AUTH_KUBECONFIG) is then no fall-back of O(kubeconfig).
    type: str
  metrics_url:
    description:
      - Address to which metrics of each pass are posted, as ansible-operator has one at V(http://localhost:5050/metrics).
      - It takes a few seconds at the most, and fails nothing. What goes wrong with it is in the line of O(log).
      - Not in check mode.
    type: str
  metrics_namespaces:
    description:
      - Namespaces whose resources of the same kind are counted for the metrics, by way of O(cache_kubeconfig).
      - All of them when the list is empty.
    type: list
    elements: str
    default: []
"""
