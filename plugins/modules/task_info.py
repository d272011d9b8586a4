#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: task_info
short_description: Tell how tasks of Apache Druid are
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns the status, and on request the specification and the reports, of tasks. Changes nothing.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.attributes.druid
  - druidops.druid.attributes.info
options:
  id:
    description: Only the task with this id.
    type: str
  datasource:
    description: Only those of this datasource.
    type: str
  state:
    description: Only those in this state.
    type: str
    choices: [pending, waiting, running, complete]
  type:
    description: Only those of this type, such as V(index_parallel).
    type: str
  limit:
    description: How many tasks that have ended to return at most, the newest first.
    type: int
    default: 100
  spec:
    description: Whether to return the specification of each, too. One request for each.
    type: bool
    default: false
  report:
    description: Whether to return the reports of each, too. One request for each.
    type: bool
    default: false
seealso:
  - module: druidops.druid.task
"""

EXAMPLES = r"""
- name: Look at the tasks of a datasource that have ended
  druidops.druid.task_info:
    url: http://localhost:8888
    datasource: wikipedia
    state: complete
    limit: 10
  register: found

- name: Stop when one has failed
  ansible.builtin.assert:
    that: found.tasks | selectattr('statusCode', 'eq', 'FAILED') | length == 0
"""

RETURN = r"""
tasks:
  description: The status of each task as Druid has it, with C(id), C(type), C(dataSource), C(errorMsg) and more.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: Its id.
      type: str
    statusCode:
      description: V(RUNNING), V(SUCCESS) or V(FAILED).
      type: str
    spec:
      description: Its specification, with secrets masked.
      type: dict
      returned: with O(spec)
    report:
      description: Druid's reports by name, with secrets masked.
      type: dict
      returned: with O(report)
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.task import task_info

ARGUMENTS = {
    "id": {"type": "str"},
    "datasource": {"type": "str"},
    "state": {"type": "str", "choices": ["pending", "waiting", "running", "complete"]},
    "type": {"type": "str"},
    "limit": {"type": "int", "default": 100},
    "spec": {"type": "bool", "default": False},
    "report": {"type": "bool", "default": False},
}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: {"changed": False, "tasks": task_info(client, module.params)})


if __name__ == "__main__":
    main()
