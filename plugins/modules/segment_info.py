#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: segment_info
short_description: Get number, size and rows of Apache Druid segments
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns the number, the size and the rows of segments, by datasource, by interval, or one by one. Changes nothing.
  - Used segments are read by SQL (C(sys.segments)). Druid groups them, so millions of them are few entries. This
    requires a Router or a Broker, which sees a change of segments within a minute.
  - Unused segments are those of one O(datasource). Druid lists them since release 29.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.attributes.druid
  - druidops.druid.attributes.info
options:
  datasource:
    description:
      - Return only segments of this datasource.
      - If it is not set, only used segments are returned.
    type: str
  interval:
    description:
      - Return only segments that lie entirely in this interval, such as V(2024-01-01/2024-02-01) or
        V(2024-01-01/P1M), in UTC.
    type: str
  used:
    description: Return only segments that are used, or only unused ones. By default, both.
    type: bool
  by:
    description:
      - What an entry is for. V(datasource) returns totals, V(interval) those of each interval and version, and
        V(segment) each segment with its id.
    type: str
    choices: [datasource, interval, segment]
    default: datasource
  limit:
    description:
      - The maximum number of entries of used segments, and the maximum number of entries of unused ones, up to 10000. A
        warning reports if there are more.
      - Of unused segments, at most 100000 are counted, with a warning if there are more.
    type: int
    default: 1000
seealso:
  - module: druidops.druid.datasource
"""

EXAMPLES = r"""
- name: Get the size of all datasources
  druidops.druid.segment_info:
    url: http://localhost:8888
  register: found

- name: Print the largest one
  ansible.builtin.debug:
    msg: "{{ found.segments | sort(attribute='size') | last | default('none') }}"

- name: Get the months that are not used anymore
  druidops.druid.segment_info:
    url: http://localhost:8888
    datasource: visits
    used: false
    by: interval
"""

RETURN = r"""
segments:
  description: The entries, those of used segments first.
  type: list
  elements: dict
  returned: always
  contains:
    datasource:
      description: Name of the datasource.
      type: str
    interval:
      description: The interval.
      type: str
      returned: with O(by=interval) and O(by=segment)
    version:
      description: The version of the segments in this interval.
      type: str
      returned: with O(by=interval) and O(by=segment)
    id:
      description: Id of the segment.
      type: str
      returned: with O(by=segment)
    used:
      description: Whether these segments are used.
      type: bool
    count:
      description: The number of segments.
      type: int
    size:
      description: Their size in bytes.
      type: int
    rows:
      description: The rows of those that servers have loaded. Null for unused ones, whose rows Druid does not report.
      type: int
    available:
      description: The number of those that servers have loaded.
      type: int
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.segment_info import segment_info

ARGUMENTS = {
    "datasource": {"type": "str"},
    "interval": {"type": "str"},
    "used": {"type": "bool"},
    "by": {"type": "str", "choices": ["datasource", "interval", "segment"], "default": "datasource"},
    "limit": {"type": "int", "default": 1000},
}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: segment_info(client, module.params))


if __name__ == "__main__":
    main()
