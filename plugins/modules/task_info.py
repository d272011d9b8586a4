#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: task_info
short_description: Get information about Apache Druid tasks
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns the status of tasks and, if requested, their specifications and reports. Changes nothing.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.attributes.druid
  - druidops.druid.attributes.info
options:
  id:
    description: Return only the task with this id.
    type: str
  datasource:
    description: Return only tasks of this datasource.
    type: str
  state:
    description: Return only tasks in this state.
    type: str
    choices: [pending, waiting, running, complete]
  type:
    description: Return only tasks of this type, such as V(index_parallel).
    type: str
  limit:
    description: The maximum number of completed tasks to return, the newest first.
    type: int
    default: 100
  spec:
    description: Whether to return the specifications as well. This takes one request per task.
    type: bool
    default: false
  report:
    description: Whether to return the reports as well. This takes one request per task.
    type: bool
    default: false
seealso:
  - module: druidops.druid.task
"""

EXAMPLES = r"""
- name: Get the completed tasks of a datasource
  druidops.druid.task_info:
    url: http://localhost:8888
    datasource: wikipedia
    state: complete
    limit: 10
  register: found

- name: Fail if one of them has failed
  ansible.builtin.assert:
    that: found.tasks | selectattr('statusCode', 'eq', 'FAILED') | length == 0
"""

RETURN = r"""
tasks:
  description: The status of each task as Druid returns it, with C(id), C(type), C(dataSource), C(errorMsg) and more.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: The task's id.
      type: str
    statusCode:
      description: V(RUNNING), V(SUCCESS) or V(FAILED).
      type: str
    spec:
      description: The specification, with secrets masked.
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
