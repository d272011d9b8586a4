#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: role
short_description: Manage the roles of Apache Druid's basic security
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Manages roles with their permissions, one or many in one call. The permissions are a set that replaces the current
    one as a whole. Their order does not matter.
  - Refuses to lock itself out. The user as which the module logs in (O(username)) keeps, by all of its roles together,
    the permissions to manage users and roles (C(CONFIG) C(security)). The user as which Druid's servers log in to one
    another (O(internal_user)) keeps all of its permissions.
  - If it is unknown by which roles the login manages users, a change that removes such permissions is refused, unless
    O(allow_lock_out=true).
  - A type of resource that Druid does not have permits nothing, and Druid accepts it. It causes a warning, as does a
    name that is no regular expression, which Druid rejects. A new role is then removed again.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.basic_security
  - druidops.druid.basic_security.internal_user
  - druidops.druid.attributes
  - druidops.druid.basic_security.managed
  - druidops.druid.attributes.druid
options:
  id:
    description: The name of the role.
    type: str
  permissions:
    description:
      - The permissions in Druid's own format, as in the example. The name of a resource is a regular expression, so
        V(.*) stands for all of a type. The action is V(READ) or V(WRITE). V(WRITE) does not include V(READ).
      - May also be a JSON or YAML string of a list.
      - If the option is not set, the role keeps its permissions, and a new role has none. An empty list is an error, so
        that an empty variable removes nothing.
    type: raw
  state:
    description: V(absent) removes the role, also from all users and group mappings that have it.
    type: str
    choices: [present, absent]
    default: present
  roles:
    description:
      - A list of roles, instead of O(id) and O(permissions).
      - A failure does not stop the others. The module then fails at the end, and returns all results.
    type: list
    elements: dict
    suboptions:
      id:
        description: See O(id).
        type: str
      permissions:
        description: See O(permissions).
        type: raw
      state:
        description: See O(state), which is the default.
        type: str
        choices: [present, absent]
seealso:
  - module: druidops.druid.role_info
  - module: druidops.druid.user
  - module: druidops.druid.group_mapping
  - name: Basic security
    description: Druid's documentation of the extension.
    link: https://druid.apache.org/docs/latest/development/extensions-core/druid-basic-security
"""

EXAMPLES = r"""
- name: Permit the ingestion of a datasource
  druidops.druid.role:
    url: http://localhost:8888
    id: clicks_ingestion
    permissions:
      - {resource: {type: DATASOURCE, name: clicks}, action: READ}
      - {resource: {type: DATASOURCE, name: clicks}, action: WRITE}

- name: Manage several roles
  druidops.druid.role:
    url: http://localhost:8888
    roles:
      - id: monitoring
        permissions: [{resource: {type: STATE, name: STATE}, action: READ}]
      - id: clicks_ingestion
        state: absent

- name: Remove the role
  druidops.druid.role:
    url: http://localhost:8888
    id: monitoring
    state: absent
"""

RETURN = r"""
roles:
  description:
    - The result for each role, in the order of the options.
    - Without O(roles), the fields of the only entry are also at the top level of the result.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: The name of the role.
      type: str
    changed:
      description: Whether the role changed, or in check mode would change.
      type: bool
    permissions:
      description: The resulting permissions, as a sorted set (in check mode, the predicted ones).
      type: list
      elements: dict
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
    INTERNAL_USER,
    MANAGED,
    ROLES,
    STORES,
    ensure,
)

ARGUMENTS = {"authorizer": STORES["authorizer"], **MANAGED, **INTERNAL_USER}


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **ROLES.options.arguments, **ARGUMENTS},
        supports_check_mode=True,
        **ROLES.options.constraints,
    )
    run(module, lambda client: ensure(ROLES, client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
