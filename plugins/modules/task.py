#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: task
short_description: Run native tasks of Apache Druid once
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Submits native tasks (C(index_parallel), C(compact), C(kill) or any other), one or many in one call, waits for them
    to end, or shuts them down.
  - Unless an id is set, it is derived from the specification, so that the same task is not submitted a second time.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.unknown_fields
  - druidops.druid.job
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
options:
  id:
    description:
      - Id of the task. The default is derived from the type, the datasource and a digest of O(spec).
      - An existing id is never submitted again, so if you set the id, change it together with the specification.
    type: str
  spec:
    description:
      - The task in Druid's own format, or a JSON or YAML string of it.
    type: raw
  state:
    description:
      - V(present) submits the task if it does not exist. V(absent) shuts it down if it is running.
    type: str
    choices: [present, absent]
    default: present
  tasks:
    description:
      - A list of tasks, instead of O(id) and O(spec). All are submitted before the first one is waited for.
      - A failure does not stop the others. The module then fails at the end, and returns all results.
    type: list
    elements: dict
    suboptions:
      id:
        description: See O(id).
        type: str
      spec:
        description: See O(spec).
        type: raw
      state:
        description: See O(state), which is the default.
        type: str
        choices: [present, absent]
seealso:
  - module: druidops.druid.task_info
  - module: druidops.druid.sql_ingest
  - name: Tasks API
    description: Druid's documentation of the API.
    link: https://druid.apache.org/docs/latest/api-reference/tasks-api
"""

EXAMPLES = r"""
- name: Ingest a file
  druidops.druid.task:
    url: http://localhost:8888
    spec:
      type: index_parallel
      spec:
        dataSchema:
          dataSource: visits
          timestampSpec: {column: ts, format: iso}
          dimensionsSpec: {dimensions: [page]}
          granularitySpec: {segmentGranularity: day, rollup: false}
        ioConfig:
          type: index_parallel
          inputSource:
            type: inline
            data: '{"ts": "2026-01-01T00:00:00Z", "page": "a"}'
          inputFormat: {type: json}
        tuningConfig: {type: index_parallel}
    wait: true

- name: Remove unused segments of two datasources, and wait for both tasks
  druidops.druid.task:
    url: http://localhost:8888
    tasks:
      - spec: {type: kill, dataSource: clicks, interval: 2020-01-01/2021-01-01}
      - spec: {type: kill, dataSource: orders, interval: 2020-01-01/2021-01-01}
    wait: true
"""

RETURN = r"""
tasks:
  description:
    - The result for each task, in the order of the options.
    - Without O(tasks), the fields of the only entry are also at the top level of the result.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: Id of the task of the last attempt.
      type: str
    changed:
      description: Whether the task was submitted or shut down, or in check mode would be.
      type: bool
    attempt:
      description: The number of the attempt, starting at 1.
      type: int
      returned: when the task is submitted, or in check mode would be
    status:
      description: The status as Druid returns it, with secrets masked.
      type: dict
      returned: unless the task would be submitted in check mode
    progress:
      description: The progress, as C(phase) and C(rows).
      type: dict
      returned: with O(wait)
    report:
      description: Druid's reports about the task, by name, with secrets masked.
      type: dict
      returned: with O(wait), when the task has ended
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
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import (
    CONNECTION,
    DOCUMENT,
    JOB,
    UNKNOWN_FIELDS,
)
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import OneOrMany
from ansible_collections.druidops.druid.plugins.module_utils._operations.task import ensure_task

TASKS = OneOrMany("tasks", {"id": {"type": "str"}, "spec": DOCUMENT})


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **TASKS.arguments, **JOB, **UNKNOWN_FIELDS},
        supports_check_mode=True,
        **TASKS.constraints,
    )
    run(module, lambda client: ensure_task(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
