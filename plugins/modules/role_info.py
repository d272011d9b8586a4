#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: role_info
short_description: Get the roles of Apache Druid's basic security
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns the roles with their permissions. Changes nothing.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.basic_security
  - druidops.druid.attributes.druid
  - druidops.druid.attributes.info
options:
  id:
    description: Return only the role of this name.
    type: str
seealso:
  - module: druidops.druid.role
"""

EXAMPLES = r"""
- name: Get a role
  druidops.druid.role_info:
    url: http://localhost:8888
    id: admin
  register: found

- name: Print what it permits
  ansible.builtin.debug:
    var: found.roles[0].permissions
"""

RETURN = r"""
roles:
  description: The roles, sorted by name.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: The name of the role.
      type: str
    permissions:
      description: The permissions, as a sorted set.
      type: list
      elements: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.security import ROLES, STORES, info

ARGUMENTS = {"id": {"type": "str"}, "authorizer": STORES["authorizer"]}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: {"changed": False, "roles": info(ROLES, client, module.params)})


if __name__ == "__main__":
    main()
