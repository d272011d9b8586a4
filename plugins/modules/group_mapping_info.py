#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: group_mapping_info
short_description: Get the group mappings of Apache Druid's basic security
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns the group mappings with their roles. Changes nothing.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.basic_security
  - druidops.druid.attributes.druid
  - druidops.druid.attributes.info
options:
  id:
    description: Return only the mapping of this name.
    type: str
seealso:
  - module: druidops.druid.group_mapping
"""

EXAMPLES = r"""
- name: Get the group mappings
  druidops.druid.group_mapping_info:
    url: http://localhost:8888
"""

RETURN = r"""
group_mappings:
  description: The group mappings, sorted by name.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: The name of the mapping.
      type: str
    group_pattern:
      description: The pattern of the groups' distinguished names.
      type: str
    roles:
      description: The roles, in alphabetical order.
      type: list
      elements: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.security import GROUP_MAPPINGS, STORES, info

ARGUMENTS = {"id": {"type": "str"}, "authorizer": STORES["authorizer"]}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: {"changed": False, "group_mappings": info(GROUP_MAPPINGS, client, module.params)})


if __name__ == "__main__":
    main()
