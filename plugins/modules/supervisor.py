#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: supervisor
short_description: Keep supervisors of Apache Druid as they are declared
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Creates, changes, suspends, resumes and terminates supervisors, one or many in one call.
  - What is stated is laid over what Druid has. Mappings are merged deeply, lists are replaced as a whole. A field that
    is not stated keeps its value, and one that is V(null) is taken away.
  - Both are compared in Druid's own notation, so that V(PT1H) and V(PT3600S), V(hour) and V(HOUR), or a dimension given
    by its bare name, are no change. A supervisor that is as it should be is not sent again, and so is not restarted.
  - Supervisors of the types V(kafka) and V(autocompact) are tested against Druid. Those of the types V(kinesis)
    and V(rabbit) are handled alike, by the rules of their specifications alone, and V(scheduled_batch) by its id.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
attributes:
  check_mode:
    support: full
    details: Sends nothing but GET requests.
  diff_mode:
    support: full
    details: An entry for each supervisor that changes.
  idempotent:
    support: partial
    details: Not with O(reset) and O(reset_offsets), which are done in each run.
options:
  id:
    description:
      - Id of the supervisor.
      - Not needed with O(spec), except for the type V(scheduled_batch). It is that of the datasource for streams,
        C(autocompact__<datasource>) for compaction. From Druid 34 on, a supervisor of a stream may have another one.
    type: str
  spec:
    description:
      - The specification in Druid's own structure, or a JSON or YAML text of it.
      - May be left out for a supervisor that is there, to suspend, resume, reset or remove it.
      - Where an autoscaler is enabled, C(taskCount) of a supervisor that is there is left alone.
      - Another topic, stream or type is refused for a supervisor that is there, and the way to it explained.
    type: raw
  state:
    description:
      - V(present) makes or changes it. V(absent) terminates it. The stored offsets stay, so that one with the
        same id reads on from there.
    type: str
    choices: [present, absent]
    default: present
  suspended:
    description:
      - Whether it is suspended. Not stated, a supervisor that is there stays as it is, and a new one runs.
    type: bool
  reset:
    description:
      - Forget all stored offsets. It reads on where C(useEarliestOffset) says, so that rows are lost or doubled.
      - Done in each run, whatever the supervisor is like.
    type: bool
    default: false
  reset_offsets:
    description:
      - Set the stored offsets of these partitions, a mapping of partition to offset (from Druid 28 on).
      - Done in each run.
    type: dict
  supervisors:
    description:
      - Many supervisors, in place of O(id), O(spec) and O(suspended). They are read in a single request, so that a call
        for hundreds of them that are as they should be takes hardly longer than for one.
      - One that fails does not stop the others. The module then fails at the end, with everything that was done.
    type: list
    elements: dict
    suboptions:
      id:
        description: As O(id).
        type: str
      spec:
        description: As O(spec).
        type: raw
      state:
        description: As O(state), which is its default.
        type: str
        choices: [present, absent]
      suspended:
        description: As O(suspended).
        type: bool
  wait:
    description:
      - Wait until O(wait_for) holds.
    type: bool
    default: false
  wait_for:
    description:
      - A JMESPath expression over the supervisor's status as Druid returns it (C(id), C(generationTime), C(payload)).
      - Without it a stream is awaited to run healthily or, when it is suspended, to read no more. Other types are
        awaited to have a status.
    type: str
  wait_timeout:
    description: Seconds to wait.
    type: float
    default: 300.0
seealso:
  - module: druidops.druid.supervisor_info
  - name: Supervisor API
    description: What Druid does.
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

- name: Keep many at once
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
  description: What became of each supervisor, in the order of the options.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: Its id.
      type: str
    changed:
      description: Whether it was, or in check mode would be, changed.
      type: bool
    spec:
      description:
        - The specification as Druid has it now (in check mode, would have), with secrets masked. Null if it is gone.
      type: dict
    reset:
      description: True when its offsets were reset.
      type: bool
      returned: when asked for
    status:
      description: Its status when the waiting ended, with secrets masked.
      type: dict
      returned: with O(wait)
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.supervisor import ensure_supervisor

ITEM = {
    "id": {"type": "str"},
    # no_log keeps it out of the system's log; what is secret in it is masked by name and by place, and only that
    "spec": {"type": "raw", "no_log": True},
    "suspended": {"type": "bool"},
}
ARGUMENTS = {
    **ITEM,
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "reset": {"type": "bool", "default": False},
    "reset_offsets": {"type": "dict"},
    "supervisors": {
        "type": "list",
        "elements": "dict",
        "no_log": True,
        "options": {**ITEM, "state": {"type": "str", "choices": ["present", "absent"]}},
    },
    "wait": {"type": "bool", "default": False},
    "wait_for": {"type": "str"},
    "wait_timeout": {"type": "float", "default": 300.0},
}


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **ARGUMENTS},
        supports_check_mode=True,
        required_one_of=[("id", "spec", "supervisors")],
        mutually_exclusive=[
            ("supervisors", "id"),
            ("supervisors", "spec"),
            ("supervisors", "suspended"),
            ("supervisors", "reset", "reset_offsets"),
        ],
    )
    run(module, lambda client: ensure_supervisor(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
