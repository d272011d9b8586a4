#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: supervisor
short_description: Manage Apache Druid supervisors
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Creates, updates, suspends, resumes and terminates supervisors, one or many in one call.
  - Merges the specified fields into the current specification. Mappings are merged recursively. Lists are replaced as a
    whole. A field that is not specified keeps its value, unless the last write of this module had specified it. A field
    that is V(null) is removed.
  - Specifications are compared in Druid's own form. For example, V(PT1H) equals V(PT3600S), V(hour) equals V(HOUR), and
    a dimension may be specified by its name only. A supervisor without changes is not sent, and so is not restarted.
  - Each write adds a short text to the C(context) of the supervisor, in the key C(druidops), which remembers what was
    specified. What Druid makes of a specification therefore causes no second write. Results do not have the text.
  - The types V(kafka) and V(autocompact) are tested against Druid. The types V(kinesis) and V(rabbit) are supported
    according to the documentation of their specifications, and V(scheduled_batch) by its id.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.unknown_fields
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
attributes:
  check_mode:
    support: full
    details: Sends nothing but GET requests.
  diff_mode:
    support: full
    details: Contains an entry for each supervisor that changes.
  idempotent:
    support: partial
    details: Not with O(reset) and O(reset_offsets), which take effect in every run.
options:
  id:
    description:
      - Id of the supervisor.
      - Not required with O(spec), except for the type V(scheduled_batch). The default is the name of the datasource for
        streams, and C(autocompact__<datasource>) for compaction. Since Druid 34, a stream supervisor may have another
        id.
    type: str
  spec:
    description:
      - The specification in Druid's own format, or a JSON or YAML string of it.
      - May be omitted for an existing supervisor, to suspend, resume, reset or remove it.
      - What the last write specified, and this one does not, is removed, with a warning that names it. Only a
        specification of a stream without its topic or its C(timestampSpec) is a partial update, which removes nothing.
      - If an autoscaler is enabled, C(taskCount) of an existing supervisor is not changed.
      - The topic, the stream and the type of an existing supervisor cannot be changed. The error describes how to
        replace the supervisor.
    type: raw
  state:
    description:
      - V(present) creates or updates the supervisor. V(absent) terminates it. Druid keeps the stored offsets, so a new
        supervisor with the same id continues from them.
    type: str
    choices: [present, absent]
    default: present
  orphaned_tasks:
    description:
      - What to do with tasks that a termination orphans. A supervisor knows a task that it has created only after
        its next run (C(period)). When it is terminated, it lets the tasks that it knows publish their rows, and no
        others. Those keep running or waiting, and occupy slots.
      - V(shut_down) shuts them down. A later supervisor with the same id reads again what they have read. A task that
        may be publishing rows is not shut down, but named in a warning if the supervisor has not contacted it.
      - V(keep) leaves them.
    type: str
    choices: [shut_down, keep]
    default: shut_down
  suspended:
    description:
      - Whether the supervisor is suspended. Without this option an existing supervisor is not changed, and a new one
        runs.
    type: bool
  reset:
    description:
      - Clear all stored offsets. The supervisor continues where C(useEarliestOffset) specifies, so rows are lost or
        duplicated.
      - Takes effect in every run, whatever the state of the supervisor.
    type: bool
    default: false
  reset_offsets:
    description:
      - Set the stored offsets of these partitions, a mapping of partition to offset, or a JSON or YAML string of one.
        Requires Druid 28 or newer.
      - Takes effect in every run.
    type: raw
  supervisors:
    description:
      - A list of supervisors, instead of O(id), O(spec) and the other options of one supervisor. They are read with a
        single request, so a call for hundreds of supervisors without changes takes little longer than for one.
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
      suspended:
        description: See O(suspended).
        type: bool
      orphaned_tasks:
        description: See O(orphaned_tasks).
        type: str
        choices: [shut_down, keep]
        default: shut_down
      reset:
        description: See O(reset).
        type: bool
        default: false
      reset_offsets:
        description: See O(reset_offsets).
        type: raw
  wait:
    description:
      - Wait until the condition in O(wait_for) is met by all supervisors that exist. All are changed before the first
        one is waited for.
    type: bool
    default: false
  wait_for:
    description:
      - A JMESPath expression over the supervisor's status as Druid returns it (C(id), C(generationTime), C(payload)).
      - By default, a stream supervisor must be healthy and running or, if it is suspended, have no active tasks. Other
        types must have a status.
    type: str
  wait_timeout:
    description: How long to wait for all supervisors together, in seconds.
    type: float
    default: 300.0
seealso:
  - module: druidops.druid.supervisor_info
  - name: Supervisor API
    description: Druid's documentation of the API.
    link: https://druid.apache.org/docs/latest/api-reference/supervisor-api
"""

EXAMPLES = r"""
- name: Ingest a topic
  druidops.druid.supervisor:
    url: http://localhost:8888
    spec:
      type: kafka
      spec:
        dataSchema:
          dataSource: wikipedia
          timestampSpec: {column: timestamp, format: iso}
          dimensionsSpec: {dimensions: [page, user, {type: long, name: added}]}
          granularitySpec: {segmentGranularity: hour, queryGranularity: none, rollup: false}
        ioConfig:
          topic: wikipedia
          inputFormat: {type: json}
          consumerProperties: {bootstrap.servers: "kafka:9092"}
          taskDuration: PT1H
          useEarliestOffset: true
    wait: true

- name: Suspend it
  druidops.druid.supervisor:
    url: http://localhost:8888
    id: wikipedia
    suspended: true

- name: Manage many supervisors at once
  druidops.druid.supervisor:
    url: http://localhost:8888
    supervisors:
      - spec: "{{ lookup('ansible.builtin.file', 'supervisors/clicks.json') }}"
      - spec: "{{ lookup('ansible.builtin.file', 'supervisors/orders.json') }}"
        suspended: true
      - id: retired
        state: absent

- name: Terminate it
  druidops.druid.supervisor:
    url: http://localhost:8888
    id: wikipedia
    state: absent
"""

RETURN = r"""
supervisors:
  description:
    - The result for each supervisor, in the order of the options.
    - Without O(supervisors), the fields of the only entry are also at the top level of the result.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: The supervisor's id.
      type: str
    changed:
      description: Whether the supervisor changed, or in check mode would change.
      type: bool
    spec:
      description:
        - The resulting specification (in check mode, the predicted one), with secrets masked. Null if the supervisor
          does not exist.
      type: dict
      returned: unless the item failed
    orphaned_tasks:
      description: Ids of the tasks that were shut down because of O(orphaned_tasks), or in check mode would be.
      type: list
      elements: str
      returned: when the supervisor is terminated
    reset:
      description: True if the offsets were reset.
      type: bool
      returned: with O(reset) or O(reset_offsets)
    status:
      description: The status at the end of the wait, with secrets masked.
      type: dict
      returned: with O(wait)
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
    UNKNOWN_FIELDS,
)
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import OneOrMany
from ansible_collections.druidops.druid.plugins.module_utils._operations.supervisor import ensure_supervisor

SUPERVISORS = OneOrMany(
    "supervisors",
    {
        "id": {"type": "str"},
        "spec": DOCUMENT,
        "suspended": {"type": "bool"},
        "orphaned_tasks": {"type": "str", "choices": ["shut_down", "keep"], "default": "shut_down"},
        "reset": {"type": "bool", "default": False},
        "reset_offsets": DOCUMENT,
    },
    exclusive=(("reset", "reset_offsets"),),
)
ARGUMENTS = {
    "wait": {"type": "bool", "default": False},
    "wait_for": {"type": "str"},
    "wait_timeout": {"type": "float", "default": 300.0},
    **UNKNOWN_FIELDS,
}


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **SUPERVISORS.arguments, **ARGUMENTS},
        supports_check_mode=True,
        **SUPERVISORS.constraints,
    )
    run(module, lambda client: ensure_supervisor(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
