#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: overlord_config
short_description: Keep the dynamic configuration of the Overlord of Apache Druid as it is declared
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Changes how the Overlord chooses who runs a task, on Middle Managers and Indexers (O(config)) and on Kubernetes
    (O(kubernetes_task_runner)).
  - What is stated is laid over what Druid has, and sent only when it differs. Mappings are merged deeply, except
    where their C(type) is another one, and lists are replaced as a whole, so that an element that is not stated any
    more is gone. A field that is not stated keeps its value.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.audit
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
options:
  config:
    description:
      - Fields of the worker configuration in Druid's own structure, C(selectStrategy) and C(autoScaler).
      - V(null) brings a field back to its default.
    type: dict
  kubernetes_task_runner:
    description:
      - Fields of the configuration of the Kubernetes task runner in Druid's own structure,
        C(podTemplateSelectStrategy) and, from Druid 36 on, C(capacity).
      - V(null) is refused, since Druid's API has no way to bring a field back to its default.
      - For Druid from 31 on, whose Overlord has the extension C(druid-kubernetes-overlord-extensions).
    type: dict
seealso:
  - module: druidops.druid.dynamic_config_info
  - name: Dynamic configuration API
    description: What Druid does.
    link: https://druid.apache.org/docs/latest/api-reference/dynamic-configuration-api
"""

EXAMPLES = r"""
- name: Let workers be filled up one after the other
  druidops.druid.overlord_config:
    url: http://localhost:8888
    config:
      selectStrategy:
        type: fillCapacityWithAffinity
        affinityConfig:
          affinity: {wikipedia: ["indexer-1.example.com:8091"]}
          strong: false

- name: Let Druid choose again
  druidops.druid.overlord_config:
    url: http://localhost:8888
    config:
      selectStrategy: null
"""

RETURN = r"""
configs:
  description: What became of each configuration, in the order of the options.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: Whose it is, V(overlord) or V(kubernetes_task_runner).
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
from ansible_collections.druidops.druid.plugins.module_utils._operations.dynamic_config import ensure_overlord
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run

ARGUMENTS = {
    "config": {"type": "dict"},
    "kubernetes_task_runner": {"type": "dict"},
    **AUDIT,
}


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **ARGUMENTS},
        supports_check_mode=True,
        required_one_of=[("config", "kubernetes_task_runner")],
    )
    run(module, lambda client: ensure_overlord(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
