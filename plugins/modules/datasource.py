#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: datasource
short_description: Mark segments of Apache Druid as used or unused, and delete them
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Marks the segments of datasources as used or as unused, all of them or those of an interval, and deletes unused
    segments from the metadata and from deep storage.
  - Unused segments are not queried, and can be used again. Deleted ones are lost. Nothing is deleted unless
    O(state=deleted) is set, and used segments are not deleted unless O(used_segments=delete) is set as well.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.audit
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
options:
  datasource:
    description: Name of the datasource.
    type: str
  interval:
    description:
      - Only segments that lie entirely in this interval, such as V(2024-01-01/2024-02-01) or V(2026-01-01/P1M), in UTC.
      - Druid keeps a segment as it is that lies only partly in the interval. A warning reports used ones.
      - The default is all of time.
    type: str
  used_segments:
    description:
      - What O(state=deleted) does if there are used segments.
      - V(fail) is an error, and nothing is deleted. V(keep) deletes only the unused ones, such as those that compaction
        has replaced. V(delete) deletes all, and first marks the used ones as unused.
    type: str
    choices: [fail, keep, delete]
    default: fail
  state:
    description:
      - V(used) marks unused segments as used, except those that newer segments overshadow. A datasource without any
        segment is an error. The Coordinator marks segments as unused again to which a drop rule applies.
      - V(unused) marks used segments as unused. Servers then drop them.
      - V(deleted) deletes unused segments by a task of type C(kill), and is met when there are none, neither used nor
        unused (O(used_segments)). A task of an earlier run for the same interval that has not ended is not submitted
        again.
      - There is no default.
    type: str
    choices: [used, unused, deleted]
  datasources:
    description:
      - A list of datasources, instead of O(datasource) and the other options of one. The same datasource can be listed
        with several intervals. Intervals of items with different states must not overlap.
      - A failure does not stop the others. The module then fails at the end, and returns all results.
    type: list
    elements: dict
    suboptions:
      datasource:
        description: See O(datasource).
        type: str
      interval:
        description: See O(interval).
        type: str
      used_segments:
        description: See O(used_segments).
        type: str
        choices: [fail, keep, delete]
        default: fail
      state:
        description: See O(state), which is the default.
        type: str
        choices: [used, unused, deleted]
  wait:
    description:
      - Wait until the tasks that delete segments have ended, and verify that no segment is listed, neither used nor
        unused. With O(used_segments=keep), others may have become unused meanwhile, which is no error. A failed task is
        an error. All tasks are submitted before the first one is waited for.
    type: bool
    default: false
  wait_timeout:
    description: How long to wait for all tasks together, in seconds.
    type: float
    default: 3600.0
notes:
  - A supervisor that is not suspended, or a running task such as a compaction, may add segments. They are named in a
    warning if segments are marked as unused, and in an error before anything is deleted, unless used segments are kept.
    For an interval that has ended, they are a warning too, since Druid does not list the intervals of tasks.
  - Druid deletes segments from the metadata before their files. If it cannot delete files, the task fails, and files of
    segments that are not listed anymore remain in deep storage. A warning reports such a task for a day, which is how
    long Druid lists it.
  - A task that deletes segments locks the time from the first unused segment to the last one. It waits for tasks that
    have locked a part of it, and these wait for it.
  - At most 10000 unused segments are read. With more of them, O(state=used) is an error, and so is
    O(used_segments=keep) without O(interval). The task then locks the whole O(interval), or all of time.
  - Druid lists unused segments since release 29. Before that, V(used) and V(deleted) require all of time. V(used) has
    an effect only if no segment is used, with a warning otherwise, and V(keep) is an error.
  - Up to Druid 31, the segments of an interval can be marked only while servers have loaded some of the datasource.
  - Used segments are read from the database by a POST request, also in check mode, for which Druid requires the
    permission to write to the datasource. Their ids must fit into one response (64 MiB); set an O(interval) otherwise.
seealso:
  - module: druidops.druid.segment_info
  - module: druidops.druid.retention_rules
  - name: Data deletion
    description: Druid's documentation of how to delete data.
    link: https://druid.apache.org/docs/latest/data-management/delete
"""

EXAMPLES = r"""
- name: Do not query one month anymore
  druidops.druid.datasource:
    url: http://localhost:8888
    datasource: visits
    interval: 2026-01-01/P1M
    state: unused

- name: Query it again
  druidops.druid.datasource:
    url: http://localhost:8888
    datasource: visits
    interval: 2026-01-01/P1M
    state: used

- name: Delete permanently what is not used, and wait for it
  druidops.druid.datasource:
    url: http://localhost:8888
    datasource: visits
    interval: 2025-01-01/P1Y
    state: deleted
    used_segments: keep
    wait: true

- name: Delete whole datasources, including what is queried
  druidops.druid.datasource:
    url: http://localhost:8888
    state: deleted
    datasources:
      - datasource: visits
        used_segments: delete
      - datasource: retired
        used_segments: delete
    comment: both are replaced by the datasource clicks
    wait: true
"""

RETURN = r"""
datasources:
  description:
    - The result for each datasource, in the order of the options.
    - Without O(datasources), the fields of the only entry are also at the top level of the result.
  type: list
  elements: dict
  returned: always
  contains:
    datasource:
      description: Name of the datasource.
      type: str
    interval:
      description: The interval in Druid's form, null for all of time.
      type: str
      returned: unless the options are invalid
    changed:
      description: Whether segments were marked or a task was submitted, or in check mode would be.
      type: bool
    segments:
      description: The number of segments (in check mode, the predicted one).
      type: dict
      returned: unless the item failed before a change
      contains:
        used:
          description: The number of used segments.
          type: int
        unused:
          description:
            - The number of unused segments, at most 10000. With O(state=used), without those that are overshadowed.
              Before Druid 29, 1 if there are unused ones only.
          type: int
          returned: with O(state=used) and O(state=deleted)
    task:
      description: Id of the task that deletes the segments. M(druidops.druid.task_info) has its status.
      type: str
      returned: if one was submitted, or has not ended
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
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import AUDIT, CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.datasource import ensure_datasource
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import OneOrMany

DATASOURCES = OneOrMany(
    "datasources",
    {
        "datasource": {"type": "str"},
        "interval": {"type": "str"},
        "used_segments": {"type": "str", "choices": ["fail", "keep", "delete"], "default": "fail"},
    },
    states=("used", "unused", "deleted"),
)
ARGUMENTS = {
    "wait": {"type": "bool", "default": False},
    "wait_timeout": {"type": "float", "default": 3600.0},
    **AUDIT,
}


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **DATASOURCES.arguments, **ARGUMENTS},
        supports_check_mode=True,
        **DATASOURCES.constraints,
    )
    run(module, lambda client: ensure_datasource(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
