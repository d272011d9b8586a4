#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: worker
short_description: Disable workers of Apache Druid until they are idle, and enable them
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Disables MiddleManagers and Indexers, so that they get no other tasks, requests the handoff of what they read from
    streams, and waits until they run no task. Their processes can then be stopped without an effect on any task.
  - Enables them again. A worker whose process is restarted is enabled without this module.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
attributes:
  check_mode:
    support: full
    details: Sends only GET requests, and waits for nothing.
  diff_mode:
    support: full
  idempotent:
    support: full
    details: A task group that is still read, as a supervisor hands it off in its next run only, is handed off again.
options:
  server:
    description:
      - Host and port of the worker, as Druid announces them (C(druid.host)); the port is that of TLS if the worker has
        one. The host is sufficient if there is one worker on it.
      - A worker that the Overlord does not know is an error.
    type: str
  state:
    description:
      - V(disabled) stops the assignment of tasks. Those that run go on.
      - V(enabled) starts it again.
      - There is no default.
    type: str
    choices: [enabled, disabled]
  hand_off:
    description:
      - With O(state=disabled), tasks that read a stream publish what they have read, and others read on elsewhere. No
        row is lost or doubled. Otherwise, they end after the C(taskDuration) of their supervisors.
      - Requires Druid 31 or newer. A warning reports an older one, in which they end after that time.
    type: bool
    default: true
  workers:
    description:
      - A list of workers, instead of O(server) and the other options of one.
      - A failure does not stop the others. The module then fails at the end, and returns all results.
    type: list
    elements: dict
    suboptions:
      server:
        description: See O(server).
        type: str
      hand_off:
        description: See O(hand_off).
        type: bool
        default: true
      state:
        description: See O(state), which is the default.
        type: str
        choices: [enabled, disabled]
  wait:
    description:
      - Wait until disabled workers run no task, in two readings 10 seconds apart, since the first one may not show a
        task that was just assigned. All workers are disabled before the first one is waited for.
      - A worker that still runs tasks when the time is over is an error, and stays disabled. The next run waits on.
    type: bool
    default: false
  wait_timeout:
    description: How long to wait for all workers together, in seconds.
    type: float
    default: 3600.0
notes:
  - The Overlord does not report who has disabled a worker. Disable one that others may have disabled only if you may
    enable it afterwards.
  - Tasks as jobs of Kubernetes have no workers.
seealso:
  - module: druidops.druid.historical
  - module: druidops.druid.druid_info
  - name: Rolling updates
    description: Druid's documentation of restarts without an outage.
    link: https://druid.apache.org/docs/latest/operations/rolling-updates
"""

EXAMPLES = r"""
- name: Get the workers
  druidops.druid.druid_info:
    url: http://localhost:8888
  register: druid

- name: Disable a worker, and wait until its tasks have published or ended
  druidops.druid.worker:
    url: http://localhost:8888
    server: "{{ druid.workers[0].server }}"
    state: disabled
    wait: true
    wait_timeout: 1800

- name: Enable all workers
  druidops.druid.worker:
    url: http://localhost:8888
    state: enabled
    workers:
      - server: "{{ druid.workers[0].server }}"
"""

RETURN = r"""
workers:
  description:
    - The result for each worker, in the order of the options.
    - Without O(workers), the fields of the only entry are also at the top level of the result.
  type: list
  elements: dict
  returned: always
  contains:
    server:
      description: Host and port, as Druid announces them.
      type: str
    changed:
      description: Whether a request was sent, or in check mode would be.
      type: bool
    status:
      description: The state of the worker (in check mode, the predicted one).
      type: dict
      returned: unless the item failed before a change
      contains:
        enabled:
          description: Whether the Overlord assigns tasks to it.
          type: bool
        task_groups:
          description: The numbers of the task groups that its tasks read, by supervisor.
          type: dict
          returned: with O(state=disabled) and O(hand_off)
    tasks:
      description: The ids of the tasks that it runs, in the last reading.
      type: list
      elements: str
      returned: if the worker exists
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
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import OneOrMany
from ansible_collections.druidops.druid.plugins.module_utils._operations.worker import ensure_worker

WORKERS = OneOrMany(
    "workers",
    {"server": {"type": "str"}, "hand_off": {"type": "bool", "default": True}},
    states=("enabled", "disabled"),
)
ARGUMENTS = {
    "wait": {"type": "bool", "default": False},
    "wait_timeout": {"type": "float", "default": 3600.0},
}


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **WORKERS.arguments, **ARGUMENTS},
        supports_check_mode=True,
        **WORKERS.constraints,
    )
    run(module, lambda client: ensure_worker(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
