#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: historical
short_description: Empty Historicals of Apache Druid, or require that they are redundant
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Adds Historicals to C(decommissioningNodes) in the dynamic configuration of the Coordinator, which then moves their
    segments to others of their tier, and waits until that is done. They serve their segments meanwhile. Their processes
    can then be stopped without an effect on queries.
  - Or requires that other servers have all of their segments, too, which is sufficient for a restart.
  - Removes them from the list again. Entries of other clients stay, also if they are written at the same time.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.audit
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
options:
  server:
    description:
      - Host and port of the Historical, as Druid announces them (C(druid.host)); the port is that of TLS if it has one.
        The host is sufficient if there is one Historical on it.
      - One that neither runs nor is in the list is an error, except with O(state=active), which it is then.
    type: str
  state:
    description:
      - V(redundant) changes nothing. It is an error if no other server has one of its segments, or if that is unknown.
      - V(decommissioned) moves its segments. It is an error if there is no other active Historical in its tier, or if
        these have no room for its segments.
      - V(active) lets it load segments again, also if another client has decommissioned it
        (RV(historicals[].decommissioned_by)).
      - There is no default.
    type: str
    choices: [redundant, decommissioned, active]
  historicals:
    description:
      - A list of Historicals, instead of O(server) and the other options of one.
      - A failure does not stop the others. The module then fails at the end, and returns all results.
    type: list
    elements: dict
    suboptions:
      server:
        description: See O(server).
        type: str
      state:
        description: See O(state), which is the default.
        type: str
        choices: [redundant, decommissioned, active]
  wait:
    description:
      - Wait until redundant Historicals are so, as a Broker knows it.
      - Wait until decommissioned Historicals have moved all of their segments, in two readings 10 seconds apart, or for
        two minutes while segments are unavailable. One whose segments all others of the tier have is done as well,
        since Druid cannot move them.
      - One that still has segments when the time is over is an error, and stays decommissioned. The next run waits on.
    type: bool
    default: false
  wait_timeout:
    description: How long to wait for all Historicals together, in seconds.
    type: float
    default: 3600.0
notes:
  - The Coordinator moves segments in its duties (C(druid.coordinator.period), 1 minute), as fast as its dynamic
    configuration permits.
seealso:
  - module: druidops.druid.worker
  - module: druidops.druid.druid_info
  - module: druidops.druid.dynamic_config
"""

EXAMPLES = r"""
- name: Get the servers
  druidops.druid.druid_info:
    url: http://localhost:8888
  register: druid

- name: Return all Historicals
  druidops.druid.historical:
    url: http://localhost:8888
    state: active
    historicals:
      - server: "{{ (druid.servers | selectattr('type', 'eq', 'historical') | first).server }}"

- name: Require that a Historical can be restarted without an effect on queries
  druidops.druid.historical:
    url: http://localhost:8888
    server: "{{ (druid.servers | selectattr('type', 'eq', 'historical') | first).server }}"
    state: redundant
    wait: true
    wait_timeout: 60
  when: druid.servers | selectattr('type', 'eq', 'historical') | length > 1

- name: Move the segments of a Historical to others, and wait until it is empty
  druidops.druid.historical:
    url: http://localhost:8888
    server: "{{ (druid.servers | selectattr('type', 'eq', 'historical') | first).server }}"
    state: decommissioned
    comment: its disk is replaced
    wait: true
    wait_timeout: 7200
  when: druid.servers | selectattr('type', 'eq', 'historical') | length > 1
"""

RETURN = r"""
historicals:
  description:
    - The result for each Historical, in the order of the options.
    - Without O(historicals), the fields of the only entry are also at the top level of the result.
  type: list
  elements: dict
  returned: always
  contains:
    server:
      description: Host and port, as Druid announces them.
      type: str
    changed:
      description: Whether the list was changed, or in check mode would be.
      type: bool
    status:
      description: The state of the Historical (in check mode, the predicted one).
      type: dict
      returned: unless the item failed before a change
      contains:
        decommissioned:
          description: Whether it is in C(decommissioningNodes).
          type: bool
    tier:
      description: Its tier, null if it does not run.
      type: str
      returned: unless the item failed before a change
    size:
      description: The bytes of segments that it has yet to move, or has, null if it does not run.
      type: int
      returned: unless the item failed before a change
    decommissioned_by:
      description:
        - Who had added it to the list before, from Druid's audit history; null if it was not in the list, or the
          history does not have that.
      type: dict
      returned: unless the item failed before a change
      contains:
        author:
          description: The author of the change. Without O(author), it is V(druidops) for this module.
          type: str
        comment:
          description: The reason for it (O(comment)).
          type: str
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
from ansible_collections.druidops.druid.plugins.module_utils._operations.historical import ensure_historical
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import OneOrMany

HISTORICALS = OneOrMany("historicals", {"server": {"type": "str"}}, states=("redundant", "decommissioned", "active"))
ARGUMENTS = {
    "wait": {"type": "bool", "default": False},
    "wait_timeout": {"type": "float", "default": 3600.0},
    **AUDIT,
}


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **HISTORICALS.arguments, **ARGUMENTS},
        supports_check_mode=True,
        **HISTORICALS.constraints,
    )
    run(module, lambda client: ensure_historical(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
