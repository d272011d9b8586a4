#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: user_info
short_description: Get the users of Apache Druid's basic security
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns the users with their roles, never a password, a salt or a hash. Changes nothing.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.basic_security
  - druidops.druid.basic_security.authenticator
  - druidops.druid.attributes.druid
  - druidops.druid.attributes.info
options:
  id:
    description: Return only the user of this name.
    type: str
seealso:
  - module: druidops.druid.user
"""

EXAMPLES = r"""
- name: Get the users
  druidops.druid.user_info:
    url: http://localhost:8888
  register: found

- name: Print those without a role
  ansible.builtin.debug:
    msg: "{{ found.users | selectattr('roles', 'equalto', []) | map(attribute='id') }}"
"""

RETURN = r"""
users:
  description: The users, sorted by name.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: The name of the user.
      type: str
    roles:
      description: The roles, in alphabetical order.
      type: list
      elements: str
    has_password:
      description: Whether the user has a password in the authenticator.
      type: bool
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.security import STORES, USERS, info

ARGUMENTS = {"id": {"type": "str"}, **STORES}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: {"changed": False, "users": info(USERS, client, module.params)})


if __name__ == "__main__":
    main()
