#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: group_mapping
short_description: Manage the group mappings of Apache Druid's basic security
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Manages which roles the members of groups in a directory (LDAP) have, for one mapping or for many in one call.
  - Druid cannot change the pattern of a mapping, nor remove a role from it that does not exist. The module then removes
    the mapping and creates it again. Meanwhile a mapping with C(__former) at the end of its name has the former pattern
    and roles, so that no member loses them before the others have theirs. If the change is interrupted, the next run
    completes it and removes that mapping, with a warning.
  - Druid does not report of which groups a login is a member. A change that removes permissions to manage users is
    refused, unless O(username) has them by roles of its own, or O(allow_lock_out=true). So is a change of the pattern.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.basic_security
  - druidops.druid.attributes
  - druidops.druid.basic_security.managed
  - druidops.druid.attributes.druid
options:
  id:
    description: The name of the mapping.
    type: str
  group_pattern:
    description:
      - The distinguished name of a group, or with an asterisk at an end those of several, such as
        V(CN=analysts,OU=druid,DC=example,DC=com) and V(*,OU=druid,DC=example,DC=com).
      - Required for a new mapping.
    type: str
  roles:
    description:
      - The roles of the members, as a set. Other roles are removed, all of them with an empty list.
      - They must exist, see M(druidops.druid.role). If the option is not set, the mapping keeps the roles.
    type: list
    elements: str
  state:
    description: V(absent) removes the mapping.
    type: str
    choices: [present, absent]
    default: present
  group_mappings:
    description:
      - A list of mappings, instead of O(id), O(group_pattern) and O(roles).
      - A failure does not stop the others. The module then fails at the end, and returns all results.
    type: list
    elements: dict
    suboptions:
      id:
        description: See O(id).
        type: str
      group_pattern:
        description: See O(group_pattern).
        type: str
      roles:
        description: See O(roles).
        type: list
        elements: str
      state:
        description: See O(state), which is the default.
        type: str
        choices: [present, absent]
seealso:
  - module: druidops.druid.group_mapping_info
  - module: druidops.druid.role
  - name: Basic security
    description: Druid's documentation of the extension.
    link: https://druid.apache.org/docs/latest/development/extensions-core/druid-basic-security
"""

EXAMPLES = r"""
- name: Permit monitoring
  druidops.druid.role:
    url: http://localhost:8888
    id: monitoring
    permissions: [{resource: {type: STATE, name: STATE}, action: READ}]

- name: Give the members of a group in the directory a role
  druidops.druid.group_mapping:
    url: http://localhost:8888
    id: operators
    group_pattern: CN=operators,OU=druid,DC=example,DC=com
    roles: [monitoring]

- name: Remove the mapping
  druidops.druid.group_mapping:
    url: http://localhost:8888
    group_mappings:
      - {id: operators, state: absent}

- name: Remove the role
  druidops.druid.role:
    url: http://localhost:8888
    id: monitoring
    state: absent
"""

RETURN = r"""
group_mappings:
  description:
    - The result for each mapping, in the order of the options.
    - Without O(group_mappings), the fields of the only entry are also at the top level of the result.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: The name of the mapping.
      type: str
    changed:
      description: Whether the mapping changed, or in check mode would change.
      type: bool
    group_pattern:
      description: The resulting pattern.
      type: str
      returned: if the mapping exists
    roles:
      description: The resulting roles, in alphabetical order (in check mode, the predicted ones).
      type: list
      elements: str
      returned: unless the item failed
    failed:
      description: True if the item failed.
      type: bool
      returned: when it failed
    msg:
      description: The error.
      type: str
      returned: when it failed
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.security import (
    GROUP_MAPPINGS,
    MANAGED,
    STORES,
    ensure,
)

ARGUMENTS = {"authorizer": STORES["authorizer"], **MANAGED}


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **GROUP_MAPPINGS.options.arguments, **ARGUMENTS},
        supports_check_mode=True,
        **GROUP_MAPPINGS.options.constraints,
    )
    run(module, lambda client: ensure(GROUP_MAPPINGS, client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
