#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: sql_ingest
short_description: Ingest by an SQL statement of Apache Druid once
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Submits an C(INSERT) or C(REPLACE) statement to the multi-stage query engine, waits for its end, and shuts it down.
  - The id is made from the statement unless it is stated, so that the same statement is not submitted a second time.
  - Druid needs the extension C(druid-multi-stage-query) up to version 34.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.job
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
attributes:
  check_mode:
    details: Sends nothing but GET requests, so the statement is not parsed.
options:
  query:
    description:
      - The statement. Required unless O(id) names one that was submitted before.
    type: str
  context:
    description:
      - Context of the query, such as C(maxNumTasks).
    type: dict
    default: {}
  parameters:
    description:
      - Values for the question marks in the statement, each a mapping with C(type) and C(value).
    type: list
    elements: dict
    default: []
  id:
    description:
      - Id of the query (C(sqlQueryId)). That of its task is C(query-) and this. Without it, it is made from a digest.
      - One that is there is never submitted again, so a stated id must change with the statement.
    type: str
seealso:
  - module: druidops.druid.task
  - module: druidops.druid.task_info
  - name: SQL-based ingestion API
    description: What Druid does.
    link: https://druid.apache.org/docs/latest/api-reference/sql-ingestion-api
"""

EXAMPLES = r"""
- name: Replace a day
  druidops.druid.sql_ingest:
    url: http://localhost:8888
    query: |
      REPLACE INTO visits OVERWRITE ALL
      SELECT TIME_PARSE(ts) AS __time, page
      FROM TABLE(EXTERN(
        '{"type": "inline", "data": "2026-01-01T00:00:00Z,a"}',
        '{"type": "csv", "columns": ["ts", "page"]}'
      )) EXTEND (ts VARCHAR, page VARCHAR)
      PARTITIONED BY DAY
    context:
      maxNumTasks: 2
    wait: true
"""

RETURN = r"""
id:
  description: Id of the task of the last attempt.
  type: str
  returned: always
attempt:
  description: Which attempt it is, counted from 1.
  type: int
  returned: when it is, or in check mode would be, submitted
status:
  description: The status as Druid has it, with secrets masked.
  type: dict
  returned: not in check mode
progress:
  description: How far it is, as C(phase) and C(rows).
  type: dict
  returned: with O(wait)
report:
  description: Druid's reports on the task, by name, with secrets masked.
  type: dict
  returned: with O(wait), when the task has ended
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION, JOB
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.task import ensure_query

ARGUMENTS = {
    **JOB,
    "id": {"type": "str"},
    # no_log keeps it out of the system's log; what is secret in it is masked by name and by place, and only that
    "query": {"type": "str", "no_log": True},
    "context": {"type": "dict", "default": {}, "no_log": True},
    "parameters": {"type": "list", "elements": "dict", "default": [], "no_log": True},
}


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True, required_one_of=[("id", "query")]
    )
    run(module, lambda client: ensure_query(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
