#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: task
short_description: Run a native task of Apache Druid once
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Submits a native task (C(index_parallel), C(compact), C(kill) or any other), waits for it to end, or shuts it down.
  - Unless an id is set, it is derived from the specification, so that the same task is not submitted a second time.
extends_documentation_fragment:
  - druidops.druid.connection
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
"""

RETURN = r"""
id:
  description: Id of the task of the last attempt.
  type: str
  returned: always
attempt:
  description: The number of the attempt, starting at 1.
  type: int
  returned: when the task is submitted, or in check mode would be
status:
  description: The status as Druid returns it, with secrets masked.
  type: dict
  returned: not in check mode
progress:
  description: The progress, as C(phase) and C(rows).
  type: dict
  returned: with O(wait)
report:
  description: Druid's reports about the task, by name, with secrets masked.
  type: dict
  returned: with O(wait), when the task has ended
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION, JOB
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.task import ensure_task

ARGUMENTS = {
    **JOB,
    "id": {"type": "str"},
    # no_log keeps it out of the system log; in the result only its secrets are masked, by name and by location
    "spec": {"type": "raw", "no_log": True},
}


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True, required_one_of=[("id", "spec")]
    )
    run(module, lambda client: ensure_task(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
