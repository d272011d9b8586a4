#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: dynamic_config
short_description: Manage the dynamic configurations of Apache Druid
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Updates the dynamic configurations of Coordinator, Overlord, Kubernetes task runner, Brokers and automatic
    compaction. Each has an option. A configuration that is not specified is left alone.
  - Merges the specified fields into the current configuration, and sends it only if it differs. Mappings are merged
    recursively, unless their C(type) differs. Lists are replaced as a whole, so elements that are not in the new list
    are removed. A field that is not specified keeps its value.
  - What V(null) means depends on what Druid's API can reset, see the options.
  - Druid always has these configurations. They cannot be removed, so there is no option C(state).
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.unknown_fields
  - druidops.druid.audit
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
options:
  coordinator:
    description:
      - Fields of the Coordinator's configuration in Druid's own format, such as C(maxSegmentsToMove) or
        C(decommissioningNodes). May also be a JSON or YAML string of a mapping.
      - V(null) empties a list or a mapping, and is an error for any other field.
      - C(killDataSourceWhitelist), C(killPendingSegmentsSkipList), C(decommissioningNodes) and C(turboLoadingNodes) are
        sets. Their order does not matter.
    type: raw
  overlord:
    description:
      - Fields of the worker configuration in Druid's own format, C(selectStrategy) and C(autoScaler), with which the
        Overlord assigns tasks to Middle Managers and Indexers. May also be a JSON or YAML string of a mapping.
      - V(null) resets a field to its default.
    type: raw
  kubernetes_task_runner:
    description:
      - Fields of the configuration of the Kubernetes task runner in Druid's own format,
        C(podTemplateSelectStrategy) and, since Druid 36, C(capacity). May also be a JSON or YAML string of a mapping.
      - V(null) is an error.
      - Requires Druid 31 or newer with the extension C(druid-kubernetes-overlord-extensions) on the Overlord.
    type: raw
  broker:
    description:
      - Fields of the Brokers' configuration in Druid's own format, C(queryBlocklist), C(queryContext) and
        C(perSegmentTimeoutConfig). May also be a JSON or YAML string of a mapping.
      - V(null) empties a list or a mapping, and is an error for any other field.
      - Each rule of C(queryBlocklist) replaces the current one exactly as specified.
      - Requires Druid 37 or newer.
    type: raw
  compaction:
    description:
      - Fields of the configuration of automatic compaction for the whole cluster in Druid's own format, such as
        C(compactionTaskSlotRatio), C(maxCompactionTaskSlots), C(compactionPolicy), C(useSupervisors) and C(engine). May
        also be a JSON or YAML string of a mapping.
      - V(null) is an error.
      - Before Druid 33, only C(compactionTaskSlotRatio), C(maxCompactionTaskSlots) and C(useAutoScaleSlots) exist.
        Other fields cause a warning there.
      - C(useSupervisors) selects where Druid stores the configuration that M(druidops.druid.compaction) manages, as the
        Coordinator's configuration or as supervisors. Changing it does not migrate existing configurations. Its default
        is V(true) since Druid 37.
    type: raw
seealso:
  - module: druidops.druid.dynamic_config_info
  - module: druidops.druid.compaction
  - name: Dynamic configuration API
    description: Druid's documentation of the API.
    link: https://druid.apache.org/docs/latest/api-reference/dynamic-configuration-api
"""

EXAMPLES = r"""
- name: Decommission a Historical
  druidops.druid.dynamic_config:
    url: http://localhost:8888
    coordinator:
      decommissioningNodes: ["historical-3.example.com:8083"]
    author: ansible
    comment: disk replacement

- name: Recommission it
  druidops.druid.dynamic_config:
    url: http://localhost:8888
    coordinator:
      decommissioningNodes: []

- name: Fill up the workers one after the other, and reserve a fifth of the task slots for compaction
  druidops.druid.dynamic_config:
    url: http://localhost:8888
    overlord:
      selectStrategy:
        type: fillCapacityWithAffinity
        affinityConfig:
          affinity: {wikipedia: ["indexer-1.example.com:8091"]}
          strong: false
    compaction:
      compactionTaskSlotRatio: 0.2
      maxCompactionTaskSlots: 10

- name: Reset the strategy to Druid's default
  druidops.druid.dynamic_config:
    url: http://localhost:8888
    overlord:
      selectStrategy: null

# Druid 37 or newer
- name: Block the queries of a misbehaving tool
  druidops.druid.dynamic_config:
    url: http://localhost:8888
    broker:
      queryBlocklist:
        - ruleName: misbehaving tool
          queryTypes: [scan]
          contextMatches: {tool: explorer}

- name: Unblock it
  druidops.druid.dynamic_config:
    url: http://localhost:8888
    broker:
      queryBlocklist: []
"""

RETURN = r"""
configs:
  description:
    - The result for each configuration, in the order of the options.
    - If only one configuration is specified, the fields of its entry are also at the top level of the result.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: The configuration's id, which is the name of its option.
      type: str
    changed:
      description: Whether the configuration changed, or in check mode would change.
      type: bool
    config:
      description: The resulting configuration (in check mode, the predicted one), with sets in alphabetical order.
      type: dict
      returned: unless it failed
    failed:
      description: True if the configuration failed.
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
from ansible_collections.druidops.druid.plugins.module_utils._operations.dynamic_config import ensure_configs
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run

ARGUMENTS = {
    "coordinator": DOCUMENT,
    "overlord": DOCUMENT,
    "kubernetes_task_runner": DOCUMENT,
    "broker": DOCUMENT,
    "compaction": DOCUMENT,
    **AUDIT,
    **UNKNOWN_FIELDS,
}


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **ARGUMENTS},
        supports_check_mode=True,
        required_one_of=[("coordinator", "overlord", "kubernetes_task_runner", "broker", "compaction")],
    )
    run(module, lambda client: ensure_configs(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
