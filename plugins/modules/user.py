#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: user
short_description: Manage the users of Apache Druid's basic security
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Manages users with their password and their roles, one or many in one call. A user of Druid has two records, one in
    an authenticator with the password, and one in an authorizer with the roles. The module manages both.
  - Passwords are compared with the salt and the hash that Druid returns. A password that is set already is not sent
    again. No password is in a result, a diff or an error.
  - Refuses to lock itself out. The user as which the module logs in (O(username), in any authenticator) can neither be
    removed nor lose the roles with which it manages users. Its own password can be changed. The module then waits until
    the Router and the Coordinator accept the new one, and causes a warning after 75 seconds. Other servers may be down.
  - If it is unknown by which roles the login manages users, a change that removes such permissions is refused, unless
    O(allow_lock_out=true).
  - The user as which Druid's servers log in to one another (O(internal_user)) can neither be removed nor lose a
    permission. Its password can only be changed with O(allow_lock_out=true).
  - A user gets the roles before the password, and loses the password before the roles.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.basic_security
  - druidops.druid.basic_security.authenticator
  - druidops.druid.basic_security.internal_user
  - druidops.druid.attributes
  - druidops.druid.basic_security.managed
  - druidops.druid.attributes.druid
options:
  id:
    description: The name of the user.
    type: str
  user_password:
    description:
      - The password of the user. Required for a new user, unless O(authenticator) is empty.
      - It must not be empty, nor contain a colon or characters that cannot be printed, such as tabs and line breaks.
      - Not to be confused with O(password), with which the module itself logs in.
    type: str
  update_password:
    description:
      - V(always) sets O(user_password) if it is not the user's current password. V(on_create) sets it only if the user
        has none, so that users can change theirs.
      - With O(initial_password), V(on_create) is refused for the user as which the module logs in. It would keep that.
    type: str
    choices: [always, on_create]
    default: always
  roles:
    description:
      - The roles of the user, as a set. Other roles are removed, all of them with an empty list.
      - They must exist, see M(druidops.druid.role). If the option is not set, the user keeps the roles.
    type: list
    elements: str
  state:
    description:
      - V(absent) removes the user from authenticator and authorizer.
      - When its Coordinator starts, Druid creates C(admin) again, with C(initialAdminPassword) of its configuration.
    type: str
    choices: [present, absent]
    default: present
  users:
    description:
      - A list of users, instead of O(id), O(user_password), O(update_password) and O(roles).
      - A failure does not stop the others. The module then fails at the end, and returns all results.
    type: list
    elements: dict
    suboptions:
      id:
        description: See O(id).
        type: str
      user_password:
        description: See O(user_password).
        type: str
      update_password:
        description: See O(update_password).
        type: str
        choices: [always, on_create]
        default: always
      roles:
        description: See O(roles).
        type: list
        elements: str
      state:
        description: See O(state), which is the default.
        type: str
        choices: [present, absent]
  wait:
    description:
      - Wait until the servers that the module reaches accept the users with O(user_password), except those who have
        kept another password (O(update_password=on_create)). With the URL of a Router these are the Router, the
        Coordinator, the Overlord and a Broker, of several URLs those of the first one that responds. One that is down
        is not waited for.
      - It shows only that they know the password. Whether they know the roles already, and what other servers know,
        Druid does not report. By default the Coordinator notifies them at once. Otherwise they ask for changes every
        minute.
    type: bool
    default: false
  wait_timeout:
    description: How long to wait for all users together, in seconds.
    type: float
    default: 120.0
seealso:
  - module: druidops.druid.user_info
  - module: druidops.druid.role
  - name: Basic security
    description: Druid's documentation of the extension.
    link: https://druid.apache.org/docs/latest/development/extensions-core/druid-basic-security
"""

EXAMPLES = r"""
# In a fresh cluster, username: admin has initialAdminPassword.
- name: Replace the initial password of the administrator
  druidops.druid.user:
    url: http://localhost:8888
    username: admin
    password: "{{ vault_admin_password }}"
    initial_password: "{{ vault_initial_password }}"
    id: admin
    user_password: "{{ vault_admin_password }}"

- name: Permit an analyst to read two datasources
  druidops.druid.role:
    url: http://localhost:8888
    id: analysts
    permissions:
      - {resource: {type: DATASOURCE, name: clicks|visits}, action: READ}

- name: Manage users with their roles
  druidops.druid.user:
    url: http://localhost:8888
    users:
      - {id: analyst, user_password: "{{ vault_analyst_password }}", roles: [analysts]}
      - {id: former_analyst, state: absent}
    wait: true

- name: Remove all roles of a user
  druidops.druid.user:
    url: http://localhost:8888
    id: analyst
    roles: []

- name: Remove the user
  druidops.druid.user:
    url: http://localhost:8888
    id: analyst
    state: absent

- name: Remove the role
  druidops.druid.role:
    url: http://localhost:8888
    id: analysts
    state: absent
"""

RETURN = r"""
users:
  description:
    - The result for each user, in the order of the options.
    - Without O(users), the fields of the only entry are also at the top level of the result.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: The name of the user.
      type: str
    changed:
      description: Whether the user changed, or in check mode would change.
      type: bool
    roles:
      description: The resulting roles, in alphabetical order (in check mode, the predicted ones).
      type: list
      elements: str
      returned: unless the item failed
    has_password:
      description: Whether the user has a password in the authenticator, which is then O(user_password) if that is set.
      type: bool
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
    STORES,
    USERS,
    ensure,
)

ARGUMENTS = {
    **STORES,
    **MANAGED,
    **INTERNAL_USER,
    "wait": {"type": "bool", "default": False},
    "wait_timeout": {"type": "float", "default": 120.0},
}


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **USERS.options.arguments, **ARGUMENTS},
        supports_check_mode=True,
        **USERS.options.constraints,
    )
    run(module, lambda client: ensure(USERS, client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
