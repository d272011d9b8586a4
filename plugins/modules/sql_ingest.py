#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: sql_ingest
short_description: Run SQL ingestion statements of Apache Druid once
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Submits C(INSERT) and C(REPLACE) statements to the multi-stage query engine, one or many in one call, waits for them
    to end, or shuts them down.
  - Unless an id is set, it is derived from the statement, so that the same statement is not submitted a second time.
  - Up to version 34, Druid requires the extension C(druid-multi-stage-query).
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
      - The statement. Required unless O(id) is the id of a statement that was submitted before.
    type: str
  context:
    description:
      - Context of the query, such as C(maxNumTasks), or a JSON or YAML string of it.
    type: raw
  parameters:
    description:
      - Values for the placeholders (C(?)) in the statement, each a mapping with C(type) and C(value).
      - May also be a JSON or YAML string of a list.
    type: raw
  id:
    description:
      - Id of the query (C(sqlQueryId)). The id of its task has the prefix C(query-). The default is derived from a
        digest of the statement.
      - An existing id is never submitted again, so if you set the id, change it together with the statement.
    type: str
  state:
    description:
      - V(present) submits the statement if it does not exist. V(absent) shuts it down if it is running.
    type: str
    choices: [present, absent]
    default: present
  queries:
    description:
      - A list of statements, instead of O(query) and the other options of one statement. All are submitted before the
        first one is waited for.
      - A failure does not stop the others. The module then fails at the end, and returns all results.
    type: list
    elements: dict
    suboptions:
      query:
        description: See O(query).
        type: str
      context:
        description: See O(context).
        type: raw
      parameters:
        description: See O(parameters).
        type: raw
      id:
        description: See O(id).
        type: str
      state:
        description: See O(state), which is the default.
        type: str
        choices: [present, absent]
seealso:
  - module: druidops.druid.task
  - module: druidops.druid.task_info
  - name: SQL-based ingestion API
    description: Druid's documentation of the API.
    link: https://druid.apache.org/docs/latest/api-reference/sql-ingestion-api
"""

EXAMPLES = r"""
- name: Replace the contents of a datasource
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
queries:
  description:
    - The result for each statement, in the order of the options.
    - Without O(queries), the fields of the only entry are also at the top level of the result.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: Id of the task of the last attempt.
      type: str
    changed:
      description: Whether the statement was submitted or shut down, or in check mode would be.
      type: bool
    attempt:
      description: The number of the attempt, starting at 1.
      type: int
      returned: when the statement is submitted, or in check mode would be
    status:
      description: The status as Druid returns it, with secrets masked.
      type: dict
      returned: unless the statement would be submitted in check mode
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
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION, DOCUMENT, JOB
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import OneOrMany
from ansible_collections.druidops.druid.plugins.module_utils._operations.task import ensure_query

QUERIES = OneOrMany(
    "queries",
    {
        "id": {"type": "str"},
        # no_log keeps it out of the system log; in the result only its secrets are masked, by name and by location
        "query": {"type": "str", "no_log": True},
        "context": DOCUMENT,
        "parameters": DOCUMENT,
    },
)


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **QUERIES.arguments, **JOB}, supports_check_mode=True, **QUERIES.constraints
    )
    run(module, lambda client: ensure_query(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
