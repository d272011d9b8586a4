#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: compaction
short_description: Keep the automatic compaction of datasources of Apache Druid as it is declared
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Creates, changes and removes the configuration of automatic compaction, of one datasource or of many in one call.
  - What is stated is laid over what Druid has. Mappings are merged deeply, lists are replaced as a whole. A field
    that is not stated keeps its value, and one that is V(null) is taken away.
  - Both are compared in Druid's own notation. A configuration that is as it should be is not sent again.
  - From Druid 33 on this is the Overlord's API, which knows whether compaction is done by supervisors
    (C(useSupervisors), see M(druidops.druid.compaction_config)). Where it is, the supervisor
    C(autocompact__<datasource>) is what is changed here, and one that is suspended stays so. To suspend it, or to
    have such a supervisor whatever C(useSupervisors) says, use M(druidops.druid.supervisor) with the type
    V(autocompact), and declare a datasource in one of the two only.
  - Druid itself removes the configuration of a datasource that has no segments
    (C(druid.coordinator.kill.compaction.on), once a day).
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.audit
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
options:
  datasource:
    description:
      - The datasource. Not needed where O(config) names it as C(dataSource).
    type: str
  config:
    description:
      - The configuration in Druid's own structure.
      - Not stated, one that is there stays as it is, and a new one has Druid's defaults.
    type: dict
  state:
    description: V(absent) removes the configuration, so that the datasource is not compacted any more.
    type: str
    choices: [present, absent]
    default: present
  datasources:
    description:
      - Many datasources, in place of O(datasource) and O(config). They are read in a single request.
      - One that fails does not stop the others. The module then fails at the end, with everything that was done.
    type: list
    elements: dict
    suboptions:
      datasource:
        description: As O(datasource).
        type: str
      config:
        description: As O(config).
        type: dict
      state:
        description: As O(state), which is its default.
        type: str
        choices: [present, absent]
seealso:
  - module: druidops.druid.compaction_info
  - module: druidops.druid.compaction_config
  - module: druidops.druid.supervisor
  - name: Automatic compaction API
    description: What Druid does.
    link: https://druid.apache.org/docs/latest/api-reference/automatic-compaction-api
"""

EXAMPLES = r"""
- name: Compact a datasource into segments of a day
  druidops.druid.compaction:
    url: http://localhost:8888
    datasource: wikipedia
    config:
      skipOffsetFromLatest: P1D
      granularitySpec: {segmentGranularity: day}
      tuningConfig:
        partitionsSpec: {type: dynamic, maxRowsPerSegment: 5000000}

- name: Keep many at once
  druidops.druid.compaction:
    url: http://localhost:8888
    datasources:
      - datasource: clicks
        config: {granularitySpec: {segmentGranularity: month}}
      - datasource: orders
      - datasource: retired
        state: absent

- name: Do not compact them any more
  druidops.druid.compaction:
    url: http://localhost:8888
    state: absent
    datasources:
      - datasource: wikipedia
      - datasource: clicks
      - datasource: orders
"""

RETURN = r"""
compaction:
  description: What became of each datasource, in the order of the options.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: The datasource.
      type: str
    changed:
      description: Whether it was, or in check mode would be, changed.
      type: bool
    config:
      description: The configuration as Druid has it now (in check mode, would have). Null if there is none.
      type: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import AUDIT, CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.compaction import ensure_compaction
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run

ITEM = {"datasource": {"type": "str"}, "config": {"type": "dict"}}
ARGUMENTS = {
    **ITEM,
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "datasources": {
        "type": "list",
        "elements": "dict",
        "options": {**ITEM, "state": {"type": "str", "choices": ["present", "absent"]}},
    },
    **AUDIT,
}


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **ARGUMENTS},
        supports_check_mode=True,
        required_one_of=[("datasource", "config", "datasources")],
        mutually_exclusive=[("datasources", "datasource"), ("datasources", "config")],
    )
    run(module, lambda client: ensure_compaction(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
