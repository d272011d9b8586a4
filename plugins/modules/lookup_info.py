#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: lookup_info
short_description: Get Apache Druid lookups, and which servers have loaded them
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns lookups, and for each server of their tiers whether it has loaded them. Changes nothing.
  - All lookups are read with one request. If they are too large for one response, set both O(id) and O(tier).
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.attributes.druid
  - druidops.druid.attributes.info
options:
  id:
    description: Return only lookups of this name.
    type: str
  tier:
    description: Return only lookups of this tier.
    type: str
  status:
    description: Also return which servers have loaded each lookup. This takes one more request.
    type: bool
    default: true
seealso:
  - module: druidops.druid.lookup
"""

EXAMPLES = r"""
- name: Get all lookups
  druidops.druid.lookup_info:
    url: http://localhost:8888
  register: found

- name: Print those that a server has not loaded
  ansible.builtin.debug:
    msg: "{{ found.lookups | rejectattr('loaded') | map(attribute='id') }}"
"""

RETURN = r"""
lookups:
  description: The lookups, sorted by tier and name. Empty if Druid never had any.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: The lookup's name.
      type: str
    tier:
      description: The tier.
      type: str
    version:
      description: The version that Druid has.
      type: str
    spec:
      description: The lookup without its version, with secrets masked.
      type: dict
    loaded:
      description:
        - Whether the tier has servers, and all of them have loaded the lookup in this version. Tasks count as servers,
          also one that has just started, of which the Coordinator does not know it yet (RV(lookups[].servers[].known)).
      type: bool
      returned: with O(status)
    servers:
      description: The servers of the tier, as the Coordinator last saw them.
      type: list
      elements: dict
      returned: with O(status)
      contains:
        server:
          description: Host and port of the server, or of a task.
          type: str
        known:
          description:
            - Whether the Coordinator knows of any lookup that the server has loaded. It asks a server that has just
              started, such as a task, only after up to C(druid.manager.lookups.period).
          type: bool
        loaded:
          description: Whether the server has loaded the lookup in the version that Druid has.
          type: bool
        version:
          description: The version that the server has loaded, null if none.
          type: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.lookup import lookup_info
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run

ARGUMENTS = {
    "id": {"type": "str"},
    "tier": {"type": "str"},
    "status": {"type": "bool", "default": True},
}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: {"changed": False, "lookups": lookup_info(client, module.params)})


if __name__ == "__main__":
    main()
