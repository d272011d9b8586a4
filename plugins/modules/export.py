#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: export
short_description: Export what an Apache Druid has as a playbook
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Writes a playbook with the supervisors, automatic compaction, retention rules, lookups and dynamic configurations of
    a Druid, and the roles, users and group mappings of basic security. The playbook has tasks of the other modules,
    which change nothing in that Druid. So a Druid that was set up by hand can be managed by Ansible.
  - Changes nothing in Druid.
  - The values of secrets are not written. In place of each is a variable, which RV(variables) lists, to be set when
    the playbook runs. A secret that contains C({{) needs the tag C(!unsafe) where it is set. Users have no password in
    the playbook, and keep theirs.
  - What Druid creates itself is left out, as long as it is unchanged, that is the rules of the cluster V(_default), and
    the users and roles C(admin) and C(druid_system) of basic security.
  - Druid omits from its lists of supervisors and of compaction what the user may not read, and reports no error. Log in
    as a user who may read all datasources.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.basic_security
  - druidops.druid.basic_security.authenticator
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
    details: The file is written only if its content differs.
options:
  path:
    description:
      - The file to write, on the host that runs the module. Its directory has to exist.
      - A new file is readable for its owner only.
    type: path
    required: true
  kinds:
    description:
      - What to export. By default all that this Druid has.
      - If V(roles), V(users) or V(group_mappings) are specified, Druid must have basic security.
    type: list
    elements: str
    choices: [roles, users, group_mappings, configs, lookups, retention_rules, compactions, supervisors]
  force:
    description: Replace a file that this module has not written, or that was changed since. By default that fails.
    type: bool
    default: false
requirements:
  - PyYAML
seealso:
  - module: druidops.druid.supervisor_info
  - module: druidops.druid.lookup_info
"""

EXAMPLES = r"""
- name: Export all that Druid has
  druidops.druid.export:
    url: http://localhost:8888
    path: druid.yml
  register: exported

- name: Print the variables to set
  ansible.builtin.debug:
    msg: "{{ exported.variables | map(attribute='name') }}"

- name: Export supervisors and their retention rules only
  druidops.druid.export:
    url: http://localhost:8888
    path: ingestion.yml
    kinds: [supervisors, retention_rules]
"""

RETURN = r"""
path:
  description: The file.
  type: str
  returned: always
variables:
  description: The variables in place of secrets, in the order of the playbook.
  type: list
  elements: dict
  returned: always
  contains:
    name:
      description: The name of the variable, such as C(vault_clicks_ssl_key_password_8a1e04bd6c9f2d35).
      type: str
    kind:
      description: What it belongs to, such as V(supervisors).
      type: str
    id:
      description: The id or the datasource, or for a lookup its tier and its id, such as C(__default/countries).
      type: str
    path:
      description: The place in its document, such as C(spec.ioConfig.consumerProperties.ssl.key.password).
      type: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.export import KINDS, export
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.security import STORES

ARGUMENTS = {
    "path": {"type": "path", "required": True},
    "kinds": {"type": "list", "elements": "str", "choices": [*KINDS]},
    "force": {"type": "bool", "default": False},
    **STORES,
}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    modes = {"check_mode": module.check_mode, "diff_mode": module._diff}
    run(module, lambda client: export(client, module.params, **modes, move=module.atomic_move))


if __name__ == "__main__":
    main()
