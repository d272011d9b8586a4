#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: query
short_description: Query Apache Druid by SQL
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns the rows of a query. Changes nothing.
  - Accepts one statement that begins with C(SELECT), C(WITH) or C(EXPLAIN). The module rejects other statements before
    it sends anything, and Druid itself ingests nothing at the address for queries. Ingestion is the work of
    M(druidops.druid.sql_ingest).
  - A query is repeated if no server has received it, or if one responds with 502 or 503. It is not repeated if it took
    too long, or if the server closed the connection, which the query itself may have caused.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.attributes.druid
  - druidops.druid.attributes.info
options:
  url:
    description:
      - URL of a Router or a Broker, such as V(https://router.example.com:9088).
      - Several servers are tried in order. The first one that responds is used from then on.
      - The default is E(DRUID_URL), which may contain several URLs separated by commas. One of the two is required.
  query:
    description: The query.
    type: str
    required: true
  parameters:
    description:
      - Values for the placeholders (C(?)) in the query, each a mapping with C(type), such as V(VARCHAR) or V(BIGINT),
        and C(value). Use them instead of templates in the query, which could change its meaning.
      - May also be a JSON or YAML string of a list.
    type: raw
  context:
    description:
      - Context of the query, such as C(sqlTimeZone), or a JSON or YAML string of it.
      - Druid stops a query of datasources shortly before O(read_timeout), unless C(timeout) (milliseconds) is set here.
    type: raw
  limit:
    description:
      - How many rows to return, at most 50000. RV(truncated) shows whether there are more.
      - Druid reads no more rows of datasources. Those of the schemas C(sys) and C(INFORMATION_SCHEMA) it sends all.
    type: int
    default: 1000
seealso:
  - module: druidops.druid.sql_ingest
  - name: SQL API
    description: Druid's documentation of the API.
    link: https://druid.apache.org/docs/latest/api-reference/sql-api
"""

EXAMPLES = r"""
- name: Count the segments of all other datasources
  druidops.druid.query:
    url: http://localhost:8888
    query: SELECT datasource, COUNT(*) AS segments FROM sys.segments WHERE datasource <> ? GROUP BY 1
    parameters:
      - {type: VARCHAR, value: wikipedia}
    timeout: 30
  register: found

- name: Print their number
  ansible.builtin.debug:
    msg: "{{ found.rows | sum(attribute='segments') }} segments of {{ found.rows | length }} datasources"
"""

RETURN = r"""
rows:
  description:
    - The rows, each a mapping from the names of the columns to values. Timestamps are strings (ISO 8601).
    - In a query that contains the word C(sys), secrets are masked in whole documents, such as the specifications in
      C(sys.supervisors), and where their name shows them. A value with a part of a document ends at the name of its
      first secret.
    - A function of the query, such as C(JSON_VALUE) or C(SUBSTRING), can cut out a secret without its name. It is then
      not masked. The rows of datasources are as they are.
  type: list
  elements: dict
  returned: success
truncated:
  description: Whether the query has more rows than O(limit).
  type: bool
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION, DOCUMENT
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.query import run_query

ARGUMENTS = {
    # no_log keeps it out of the system log; in the result only its secrets are masked, by name and by location
    "query": {"type": "str", "required": True, "no_log": True},
    "parameters": DOCUMENT,
    "context": DOCUMENT,
    "limit": {"type": "int", "default": 1000},
}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: run_query(client, module.params))


if __name__ == "__main__":
    main()
