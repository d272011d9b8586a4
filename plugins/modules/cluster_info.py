#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This is the documentation of the action plugin of the same name; the code is plugins/action/cluster_info.py.

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_info
short_description: Tell how Apache Druid clusters on Kubernetes are
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns name, conditions and nodes of C(Druid) resources as their status has them. Changes nothing.
  - Runs where the playbook runs (an action plugin); the managed host is not used.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - druidops.druid.attributes.action
  - druidops.druid.attributes.info
options:
  name:
    description: Name of one resource. Without it all of O(namespace) are returned.
    type: str
  namespace:
    description: Namespace of the resources.
    type: str
    default: default
seealso:
  - module: druidops.druid.cluster
"""

EXAMPLES = r"""
- name: Look at all clusters of a namespace
  druidops.druid.cluster_info:
    namespace: druid
  register: druid

- name: Stop when one is not ready
  ansible.builtin.assert:
    that: druid.clusters | rejectattr('ready') | length == 0
"""

RETURN = r"""
clusters:
  description: A list of clusters; empty when there is none.
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
      description: Whether the condition Ready is true and about the present specification.
      type: bool
    nodes:
      description: Druid nodes that are ready, and that are wanted.
      type: str
      sample: 5/6
    version:
      description: The tags of the images that run.
      type: str
    conditions:
      description: The conditions of the status.
      type: list
      elements: dict
    groups:
      description: The keys of the groups, in the order of a rollout.
      type: list
      elements: str
"""
