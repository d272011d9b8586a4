#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: compaction_config
short_description: Manage the cluster-wide configuration of automatic compaction in Apache Druid
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Updates the configuration of automatic compaction for the whole cluster, in particular its task slots.
  - Merges the specified fields into the current configuration, and sends it only if it differs. A field that is not
    specified keeps its value. V(null) is an error, since Druid's API does not return the defaults.
  - Before Druid 33, only C(compactionTaskSlotRatio), C(maxCompactionTaskSlots) and C(useAutoScaleSlots) exist. Other
    fields cause a warning there.
  - C(useSupervisors) selects where Druid stores the configuration that M(druidops.druid.compaction) manages, as the
    Coordinator's configuration or as supervisors. Changing it does not migrate existing configurations. Its default is
    V(true) since Druid 37.
  - Druid always has this configuration. It cannot be removed, so there is no option C(state).
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.unknown_fields
  - druidops.druid.audit
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
options:
  config:
    description:
      - Fields of the configuration in Druid's own format, such as C(compactionTaskSlotRatio),
        C(maxCompactionTaskSlots), C(compactionPolicy), C(useSupervisors) and C(engine).
      - May also be a JSON or YAML string of a mapping.
    type: raw
    required: true
seealso:
  - module: druidops.druid.compaction
  - module: druidops.druid.dynamic_config_info
  - name: Automatic compaction API
    description: Druid's documentation of the API.
    link: https://druid.apache.org/docs/latest/api-reference/automatic-compaction-api
"""

EXAMPLES = r"""
- name: Reserve a fifth of the task slots for compaction
  druidops.druid.compaction_config:
    url: http://localhost:8888
    config:
      compactionTaskSlotRatio: 0.2
      maxCompactionTaskSlots: 10
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
      description: The configuration's id, V(compaction).
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
from ansible_collections.druidops.druid.plugins.module_utils._operations.dynamic_config import ensure_cluster_compaction
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run

ARGUMENTS = {
    "config": {**DOCUMENT, "required": True},
    **AUDIT,
    **UNKNOWN_FIELDS,
}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: ensure_cluster_compaction(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
