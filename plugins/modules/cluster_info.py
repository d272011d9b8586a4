#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This is the documentation of the action plugin of the same name; the code is plugins/action/cluster_info.py.

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_info
short_description: Get information about Apache Druid clusters on Kubernetes
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns name, conditions and ready pods of C(Druid) resources from their status. Changes nothing.
  - Runs on the controller (an action plugin). The managed host is not used.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - druidops.druid.attributes.action
  - druidops.druid.attributes.info
options:
  name:
    description: Name of one resource. By default, all resources in O(namespace) are returned.
    type: str
  namespace:
    description: Namespace of the resources.
    type: str
    default: default
seealso:
  - module: druidops.druid.cluster
"""

EXAMPLES = r"""
- name: Get all clusters in a namespace
  druidops.druid.cluster_info:
    namespace: druid
  register: druid

- name: Fail if one of them is not ready
  ansible.builtin.assert:
    that: druid.clusters | rejectattr('ready') | length == 0
"""

RETURN = r"""
clusters:
  description: The clusters; an empty list if there is none.
  type: list
  elements: dict
  returned: always
  contains:
    name:
      description: Name of the resource.
      type: str
    namespace:
      description: Namespace of the resource.
      type: str
    ready:
      description: Whether the condition Ready is true for the current generation.
      type: bool
    nodes:
      description: The numbers of ready and of desired pods.
      type: str
      sample: 5/6
    version:
      description: The tags of the running images.
      type: str
    conditions:
      description: The conditions of the status.
      type: list
      elements: dict
    groups:
      description: The keys of the groups, in the order of rollouts.
      type: list
      elements: str
"""
