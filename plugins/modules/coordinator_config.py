#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: coordinator_config
short_description: Keep the dynamic configuration of the Coordinator of Apache Druid as it is declared
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Changes the dynamic configuration of the Coordinator.
  - What is stated is laid over what Druid has, and only the fields that differ are sent. Mappings are merged deeply,
    lists are replaced as a whole, so that an element that is not stated any more is gone. A field that is not stated
    keeps its value.
  - V(null) empties a list or a mapping. Druid's API has no way to bring any other field back to its default, so
    V(null) is refused there.
  - C(killDataSourceWhitelist), C(killPendingSegmentsSkipList), C(decommissioningNodes) and C(turboLoadingNodes) are
    sets, of which the order does not matter.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.audit
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
options:
  config:
    description:
      - Fields of the configuration in Druid's own structure, such as C(maxSegmentsToMove) or C(decommissioningNodes).
    type: dict
    required: true
seealso:
  - module: druidops.druid.dynamic_config_info
  - name: Dynamic configuration API
    description: What Druid does.
    link: https://druid.apache.org/docs/latest/api-reference/dynamic-configuration-api
"""

EXAMPLES = r"""
- name: Move the segments away from a Historical
  druidops.druid.coordinator_config:
    url: http://localhost:8888
    config:
      decommissioningNodes: ["historical-3.example.com:8083"]
    author: ansible
    comment: it gets new disks

- name: Let it have segments again
  druidops.druid.coordinator_config:
    url: http://localhost:8888
    config:
      decommissioningNodes: []
"""

RETURN = r"""
configs:
  description: What became of each configuration, in the order of the options.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: Whose it is, V(coordinator).
      type: str
    changed:
      description: Whether it was, or in check mode would be, changed.
      type: bool
    config:
      description: The configuration as Druid has it now (in check mode, would have), sets in alphabetical order.
      type: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import AUDIT, CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.dynamic_config import ensure_coordinator
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run

ARGUMENTS = {
    "config": {"type": "dict", "required": True},
    **AUDIT,
}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: ensure_coordinator(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
