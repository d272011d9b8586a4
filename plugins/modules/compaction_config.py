#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: compaction_config
short_description: Keep what automatic compaction of Apache Druid may take of the cluster as it is declared
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Changes the configuration that automatic compaction has for the whole cluster, its task slots above all.
  - What is stated is laid over what Druid has, and sent only when it differs. A field that is not stated keeps its
    value, and V(null) is refused, since Druid does not say what its defaults are.
  - Before Druid 33 there are C(compactionTaskSlotRatio), C(maxCompactionTaskSlots) and C(useAutoScaleSlots) only.
    Other fields are warned of then.
  - C(useSupervisors) decides where Druid keeps what M(druidops.druid.compaction) declares, the Coordinator's
    configuration or supervisors, and does not take the one over into the other. Its default is V(true) from Druid 37
    on.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.audit
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
options:
  config:
    description:
      - Fields of the configuration in Druid's own structure, such as C(compactionTaskSlotRatio),
        C(maxCompactionTaskSlots), C(compactionPolicy), C(useSupervisors) and C(engine).
    type: dict
    required: true
seealso:
  - module: druidops.druid.compaction
  - module: druidops.druid.dynamic_config_info
  - name: Automatic compaction API
    description: What Druid does.
    link: https://druid.apache.org/docs/latest/api-reference/automatic-compaction-api
"""

EXAMPLES = r"""
- name: Give a fifth of the task slots to compaction
  druidops.druid.compaction_config:
    url: http://localhost:8888
    config:
      compactionTaskSlotRatio: 0.2
      maxCompactionTaskSlots: 10
"""

RETURN = r"""
configs:
  description: What became of each configuration, in the order of the options.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: Whose it is, V(compaction).
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
from ansible_collections.druidops.druid.plugins.module_utils._operations.dynamic_config import ensure_cluster_compaction
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run

ARGUMENTS = {
    "config": {"type": "dict", "required": True},
    **AUDIT,
}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: ensure_cluster_compaction(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
