#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: retention_rules_info
short_description: Get the retention rules of Apache Druid datasources
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns the datasources' own rules, and those of the cluster. Changes nothing.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.attributes.druid
  - druidops.druid.attributes.info
options:
  datasource:
    description: Return only the rules of this datasource, or of V(_default).
    type: str
seealso:
  - module: druidops.druid.retention_rules
"""

EXAMPLES = r"""
- name: Get the rules of the cluster
  druidops.druid.retention_rules_info:
    url: http://localhost:8888
    datasource: _default
  register: found

- name: Print their types
  ansible.builtin.debug:
    msg: "{{ found.retention_rules[0].rules | map(attribute='type') }}"
"""

RETURN = r"""
retention_rules:
  description: The datasources with their own rules, sorted by name. V(_default) stands for the rules of the cluster.
  type: list
  elements: dict
  returned: always
  contains:
    datasource:
      description: The datasource.
      type: str
    rules:
      description: The rules, in their order.
      type: list
      elements: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.retention_rules import retention_rules_info

ARGUMENTS = {"datasource": {"type": "str"}}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: {"changed": False, "retention_rules": retention_rules_info(client, module.params)})


if __name__ == "__main__":
    main()
