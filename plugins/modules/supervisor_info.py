#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: supervisor_info
short_description: Get information about Apache Druid supervisors
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns state, lag, errors and specification of all or some supervisors. Changes nothing.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.attributes.druid
  - druidops.druid.attributes.info
options:
  id:
    description: Return only the supervisor with this id.
    type: str
  datasource:
    description: Return only supervisors that write to this datasource.
    type: str
  state:
    description:
      - Return only supervisors in this state or detailed state, such as V(UNHEALTHY_SUPERVISOR) or V(IDLE).
    type: str
  status:
    description: Whether to return the status as well, with lag and errors. This takes one request per supervisor.
    type: bool
    default: true
  history:
    description: The number of previous specifications to return, the newest first. Takes one request per supervisor.
    type: int
    default: 0
seealso:
  - module: druidops.druid.supervisor
"""

EXAMPLES = r"""
- name: Get all supervisors
  druidops.druid.supervisor_info:
    url: http://localhost:8888
  register: found

- name: Print the unhealthy ones
  ansible.builtin.debug:
    msg: "{{ found.supervisors | rejectattr('healthy') | map(attribute='id') }}"
"""

RETURN = r"""
supervisors:
  description: The supervisors, sorted by id.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: The supervisor's id.
      type: str
    type:
      description: The type, such as V(kafka).
      type: str
    datasource:
      description: The datasource that it writes to.
      type: str
    suspended:
      description: Whether the supervisor is suspended according to its specification.
      type: bool
    state:
      description: The state.
      type: str
    detailed_state:
      description: The detailed state, which depends on the type.
      type: str
    healthy:
      description: Whether Druid reports the supervisor as healthy.
      type: bool
    spec:
      description: The specification in Druid's own form, with secrets masked.
      type: dict
    lag:
      description: The number of unread rows in all partitions. Null if Druid does not report it.
      type: int
      returned: with O(status)
    status:
      description: The payload of the status with the latest three errors, with secrets masked.
      type: dict
      returned: with O(status)
    history:
      description: The previous specifications, each with C(spec) and C(version), with secrets masked.
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
