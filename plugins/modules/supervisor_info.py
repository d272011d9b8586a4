#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: supervisor_info
short_description: Tell how supervisors of Apache Druid are
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns state, lag, errors and specification of supervisors, all of them or some. Changes nothing.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.attributes.druid
  - druidops.druid.attributes.info
options:
  id:
    description: Only the supervisor with this id.
    type: str
  datasource:
    description: Only those that write to this datasource.
    type: str
  state:
    description:
      - Only those in this state, or with this detailed state, such as V(UNHEALTHY_SUPERVISOR) or V(IDLE).
    type: str
  status:
    description: Whether to read the status of each, with its lag and errors, too. One request for each.
    type: bool
    default: true
  history:
    description: How many former specifications to return, the newest first. One request for each supervisor.
    type: int
    default: 0
seealso:
  - module: druidops.druid.supervisor
"""

EXAMPLES = r"""
- name: Look for supervisors that are not well
  druidops.druid.supervisor_info:
    url: http://localhost:8888
  register: found

- name: Name them
  ansible.builtin.debug:
    msg: "{{ found.supervisors | rejectattr('healthy') | map(attribute='id') }}"
"""

RETURN = r"""
supervisors:
  description: The supervisors, by id.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: Its id.
      type: str
    type:
      description: Its type, such as V(kafka).
      type: str
    datasource:
      description: What it writes to.
      type: str
    suspended:
      description: Whether its specification says that it is suspended.
      type: bool
    state:
      description: Its state.
      type: str
    detailed_state:
      description: Its state, in the words of its type.
      type: str
    healthy:
      description: Whether Druid thinks that it is well.
      type: bool
    spec:
      description: Its specification in Druid's own notation, with secrets masked.
      type: dict
    lag:
      description: The rows, summed over the partitions, that are yet to be read. Null if Druid does not know.
      type: int
      returned: with O(status)
    status:
      description: The payload of its status with the latest three errors, with secrets masked.
      type: dict
      returned: with O(status)
    history:
      description: Former specifications, each with C(spec) and C(version), with secrets masked.
      type: list
      elements: dict
      returned: with O(history)
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.supervisor import supervisor_info

ARGUMENTS = {
    "id": {"type": "str"},
    "datasource": {"type": "str"},
    "state": {"type": "str"},
    "status": {"type": "bool", "default": True},
    "history": {"type": "int", "default": 0},
}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: {"changed": False, "supervisors": supervisor_info(client, module.params)})


if __name__ == "__main__":
    main()
