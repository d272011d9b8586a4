#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: druid_info
short_description: Get version, servers and workers of Apache Druid, and wait until it is ready
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns version, extensions, leaders, servers, load status and task slots of a Druid on any infrastructure, and can
    wait until it is ready. Changes nothing.
  - A part that cannot be read because a service does not run is null, and a problem in RV(problems).
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.attributes.druid
  - druidops.druid.attributes.info
options:
  services:
    description:
      - Types of servers of which at least one must have announced itself, for Druid to be ready.
    type: list
    elements: str
    choices: [broker, coordinator, historical, indexer, middleManager, overlord, router]
    default: [broker, historical]
  servers:
    description:
      - Servers that must have announced themselves, for Druid to be ready, as host and port. Of a host without a port,
        one is sufficient. The port is that of TLS if a server has one.
      - A MiddleManager or an Indexer must also be known to the Overlord, and be enabled.
    type: list
    elements: str
  health:
    description:
      - Return RV(health), which a later call can compare with (O(baseline)). A Broker reads all segments for that,
        which takes long in a large Druid.
    type: bool
    default: false
  baseline:
    description:
      - The RV(health) of an earlier call. Druid is ready when it is no worse than then, even if segments were not
        loaded then. This is what the operator of this collection waits for between the restarts of a rollout.
      - Implies O(health=true).
    type: dict
  wait:
    description:
      - Wait until Druid is ready (RV(ready)), or until the condition in O(wait_for) is met. A Druid that does not
        respond yet is waited for, too.
    type: bool
    default: false
  wait_for:
    description:
      - A JMESPath expression over the result of this module, instead of RV(ready). Requires O(wait=true).
      - It is not met while it cannot be evaluated because a part of Druid does not respond.
    type: str
  wait_timeout:
    description: How long to wait, in seconds.
    type: float
    default: 600.0
seealso:
  - module: druidops.druid.segment_info
  - module: druidops.druid.cluster_info
"""

EXAMPLES = r"""
- name: Wait until Druid is ready after a restart
  druidops.druid.druid_info:
    url: http://localhost:8888
    wait: true
    wait_timeout: 300
  register: druid

- name: Remember the health of Druid before a restart
  druidops.druid.druid_info:
    url: http://localhost:8888
    health: true
  register: before

- name: Wait until a restarted Historical is there, and Druid has recovered
  druidops.druid.druid_info:
    url: http://localhost:8888
    servers: ["{{ (before.servers | selectattr('type', 'eq', 'historical') | first).server }}"]
    baseline: "{{ before.health }}"
    wait: true

- name: Require a release, and a free task slot
  ansible.builtin.assert:
    that:
      - druid.version is version('27.0.0', '>=')
      - druid.slots.free > 0

- name: Wait for a Historical in a tier, and for a free task slot
  druidops.druid.druid_info:
    url: http://localhost:8888
    wait: true
    wait_for: servers[?type=='historical' && tier=='_default_tier'] && slots.free > `0`
"""

RETURN = r"""
ready:
  description:
    - Whether there are no RV(problems). Coordinators and Overlords have a leader, there is a server of each type in
      O(services), and O(servers), and servers have loaded all segments that the rules require. The Coordinator
      determines the latter once a minute (C(druid.coordinator.period)). With O(baseline), a Broker is asked instead.
  type: bool
  returned: always
problems:
  description: Why Druid is not ready.
  type: list
  elements: str
  returned: always
version:
  description: The release of the server that responds.
  type: str
  returned: if it responds
extensions:
  description: The extensions that this server has loaded.
  type: list
  elements: str
  returned: if it responds
leaders:
  description: The addresses of the leaders, null for one that there is not.
  type: dict
  returned: if a server responds
  contains:
    coordinator:
      description: The leader of the Coordinators.
      type: str
    overlord:
      description: The leader of the Overlords.
      type: str
servers:
  description: The servers that have announced themselves, sorted by type and address.
  type: list
  elements: dict
  returned: if a server responds
  contains:
    server:
      description: Host and port, that of TLS if the server has both.
      type: str
    type:
      description: The type, such as V(historical).
      type: str
    tier:
      description: The tier, null for a server that loads no segments.
      type: str
    size:
      description: The size of its segments in bytes, null for a server that loads no segments.
      type: int
    max_size:
      description: The size of segments that it may load in bytes, null for a server that loads no segments.
      type: int
load_status:
  description:
    - The number of segments of each datasource that should be loaded, and are not, without replicas. While replicas are
      missing, too, segments that were replaced are counted until the Coordinator marks them as unused, which it does
      when it has been the leader for 15 minutes (C(millisToWaitBeforeDeleting)).
    - Null where the Coordinator does not know it yet. It has none until its duties have run once after it became the
      leader (C(druid.coordinator.startDelay), 5 minutes by default). The user needs the permission to read datasources,
      as those without it do not count.
  type: dict
  returned: if a server responds
workers:
  description: The MiddleManagers and Indexers that the Overlord knows.
  type: list
  elements: dict
  returned: if a server responds
  contains:
    server:
      description: Host and port.
      type: str
    category:
      description: The category.
      type: str
    enabled:
      description: Whether the Overlord assigns tasks to the worker.
      type: bool
    capacity:
      description: The number of task slots.
      type: int
    used:
      description: The number of slots in use.
      type: int
    free:
      description: The number of free slots, 0 if the worker is disabled.
      type: int
health:
  description:
    - What a restart must not make worse, null where Druid does not report it. Datasources that the user may not read do
      not count, nor do supervisors whose datasources the user may not write to.
  type: dict
  returned: with O(health) or O(baseline), if a server responds
  contains:
    unavailable_segments:
      description: The number of segments that should be loaded, and that no server has, as a Broker knows them.
      type: int
    missing_replicas:
      description: The number of replicas that the load rules require, and that Historicals could load, and have not.
      type: int
    supervisors_not_running:
      description: The number of supervisors that are not healthy, or have no tasks yet, without suspended ones.
      type: int
    historicals:
      description: The number of Historicals that have announced themselves.
      type: int
slots:
  description: The sums of all workers, with the fields C(capacity), C(used) and C(free).
  type: dict
  returned: if a server responds
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.druid_info import druid_info
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run

ARGUMENTS = {
    "services": {
        "type": "list",
        "elements": "str",
        "choices": ["broker", "coordinator", "historical", "indexer", "middleManager", "overlord", "router"],
        "default": ["broker", "historical"],
    },
    "servers": {"type": "list", "elements": "str"},
    "health": {"type": "bool", "default": False},
    "baseline": {"type": "dict"},
    "wait": {"type": "bool", "default": False},
    "wait_for": {"type": "str"},
    "wait_timeout": {"type": "float", "default": 600.0},
}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: druid_info(client, module.params))


if __name__ == "__main__":
    main()
