#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: dynamic_config_info
short_description: Get the dynamic configurations of Apache Druid
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns the dynamic configurations of Coordinator, Overlord, Kubernetes task runner, Brokers and automatic
    compaction that this version of Druid supports. Changes nothing.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.attributes.druid
  - druidops.druid.attributes.info
options:
  id:
    description: Return only this configuration.
    type: str
    choices: [coordinator, overlord, kubernetes_task_runner, broker, compaction]
seealso:
  - module: druidops.druid.dynamic_config
"""

EXAMPLES = r"""
- name: Get the dynamic configuration of the Coordinator
  druidops.druid.dynamic_config_info:
    url: http://localhost:8888
    id: coordinator
  register: found

- name: Fail if segment balancing is disabled
  ansible.builtin.assert:
    that: found.configs[0].config.maxSegmentsToMove > 0
"""

RETURN = r"""
configs:
  description: The configurations.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description:
        - The configuration's id, V(coordinator), V(overlord), V(kubernetes_task_runner), V(broker) or V(compaction).
          Configurations that this version of Druid does not support are omitted.
      type: str
    config:
      description: The configuration, with sets in alphabetical order. Empty if it was never set.
      type: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.dynamic_config import dynamic_config_info
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run

ARGUMENTS = {
    "id": {
        "type": "str",
        "choices": ["coordinator", "overlord", "kubernetes_task_runner", "broker", "compaction"],
    }
}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: {"changed": False, "configs": dynamic_config_info(client, module.params)})


if __name__ == "__main__":
    main()
