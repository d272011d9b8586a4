#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: compaction
short_description: Manage automatic compaction of Apache Druid datasources
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Creates, updates and removes the configuration of automatic compaction, for one datasource or for many in one call.
  - Merges the specified fields into the current configuration. Mappings are merged recursively. Lists are replaced as
    a whole. A field that is not specified keeps its value, unless the last write of this module had specified it. A
    field that is V(null) is removed.
  - Configurations are compared in Druid's own form. A configuration without changes is not sent.
  - Each write adds a short text to the C(taskContext), in the key C(druidops), which remembers what was specified, and
    what Druid has made of it. Results do not have the text.
  - Since Druid 33 the module uses the Overlord's API, which also supports compaction supervisors (C(useSupervisors),
    see M(druidops.druid.dynamic_config)). If these are enabled, the module updates the supervisor
    C(autocompact__<datasource>). A suspended supervisor stays suspended. To suspend it, or to create such a supervisor
    independently of C(useSupervisors), use M(druidops.druid.supervisor) with the type V(autocompact). Manage each
    datasource with only one of the two modules.
  - Druid removes the configuration of a datasource without segments once a day
    (C(druid.coordinator.kill.compaction.on)).
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.unknown_fields
  - druidops.druid.audit
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
options:
  datasource:
    description:
      - The datasource. Not required if O(config) contains C(dataSource).
    type: str
  config:
    description:
      - The configuration in Druid's own format.
      - What the last write specified, and this one does not, is removed, with a warning that names it. Two tasks with
        different parts of one configuration therefore undo each other. Specify all of it in one task.
      - Without this option an existing configuration is kept, and a new one has Druid's defaults.
      - May also be a JSON or YAML string of a mapping.
    type: raw
  state:
    description: V(absent) removes the configuration, so that the datasource is no longer compacted.
    type: str
    choices: [present, absent]
    default: present
  compactions:
    description:
      - A list of configurations, instead of O(datasource) and O(config). They are read with a single request.
      - A failure does not stop the others. The module then fails at the end, and returns all results.
    type: list
    elements: dict
    suboptions:
      datasource:
        description: See O(datasource).
        type: str
      config:
        description: See O(config).
        type: raw
      state:
        description: See O(state), which is the default.
        type: str
        choices: [present, absent]
seealso:
  - module: druidops.druid.compaction_info
  - module: druidops.druid.dynamic_config
  - module: druidops.druid.supervisor
  - name: Automatic compaction API
    description: Druid's documentation of the API.
    link: https://druid.apache.org/docs/latest/api-reference/automatic-compaction-api
"""

EXAMPLES = r"""
- name: Compact a datasource into daily segments
  druidops.druid.compaction:
    url: http://localhost:8888
    datasource: wikipedia
    config:
      skipOffsetFromLatest: P1D
      granularitySpec: {segmentGranularity: day}
      tuningConfig:
        partitionsSpec: {type: dynamic, maxRowsPerSegment: 5000000}

- name: Manage many datasources at once
  druidops.druid.compaction:
    url: http://localhost:8888
    compactions:
      - datasource: clicks
        config: {granularitySpec: {segmentGranularity: month}}
      - datasource: orders
      - datasource: retired
        state: absent

- name: Disable compaction
  druidops.druid.compaction:
    url: http://localhost:8888
    state: absent
    compactions:
      - datasource: wikipedia
      - datasource: clicks
      - datasource: orders
"""

RETURN = r"""
compactions:
  description:
    - The result for each configuration, in the order of the options.
    - Without O(compactions), the fields of the only entry are also at the top level of the result.
  type: list
  elements: dict
  returned: always
  contains:
    datasource:
      description: The datasource.
      type: str
    changed:
      description: Whether the configuration changed, or in check mode would change.
      type: bool
    config:
      description: The resulting configuration (in check mode, the predicted one). Null if there is none.
      type: dict
      returned: unless the item failed
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
    AUDIT,
    CONNECTION,
    DOCUMENT,
    UNKNOWN_FIELDS,
)
from ansible_collections.druidops.druid.plugins.module_utils._operations.compaction import ensure_compaction
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import OneOrMany

COMPACTIONS = OneOrMany(
    "compactions",
    {"datasource": {"type": "str"}, "config": DOCUMENT},
)


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **COMPACTIONS.arguments, **AUDIT, **UNKNOWN_FIELDS},
        supports_check_mode=True,
        **COMPACTIONS.constraints,
    )
    run(module, lambda client: ensure_compaction(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
