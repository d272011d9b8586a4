#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: overlord_config
short_description: Manage the dynamic configuration of the Apache Druid Overlord
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Configures how the Overlord assigns tasks to Middle Managers and Indexers (O(config)) and how it runs them on
    Kubernetes (O(kubernetes_task_runner)).
  - Merges the specified fields into the current configuration, and sends it only if it differs. Mappings are merged
    recursively, unless their C(type) differs. Lists are replaced as a whole, so elements that are not in the new list
    are removed. A field that is not specified keeps its value.
  - Druid always has these configurations. They cannot be removed, so there is no option C(state).
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.unknown_fields
  - druidops.druid.audit
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
options:
  config:
    description:
      - Fields of the worker configuration in Druid's own format, C(selectStrategy) and C(autoScaler).
      - V(null) resets a field to its default.
      - May also be a JSON or YAML string of a mapping.
    type: raw
  kubernetes_task_runner:
    description:
      - Fields of the configuration of the Kubernetes task runner in Druid's own format,
        C(podTemplateSelectStrategy) and, since Druid 36, C(capacity).
      - V(null) is an error, since Druid's API cannot reset a field to its default.
      - May also be a JSON or YAML string of a mapping.
      - Requires Druid 31 or newer with the extension C(druid-kubernetes-overlord-extensions) on the Overlord.
    type: raw
seealso:
  - module: druidops.druid.dynamic_config_info
  - name: Dynamic configuration API
    description: Druid's documentation of the API.
    link: https://druid.apache.org/docs/latest/api-reference/dynamic-configuration-api
"""

EXAMPLES = r"""
- name: Fill up the workers one after the other
  druidops.druid.overlord_config:
    url: http://localhost:8888
    config:
      selectStrategy:
        type: fillCapacityWithAffinity
        affinityConfig:
          affinity: {wikipedia: ["indexer-1.example.com:8091"]}
          strong: false

- name: Reset the strategy to Druid's default
  druidops.druid.overlord_config:
    url: http://localhost:8888
    config:
      selectStrategy: null
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
      description: The configuration's id, V(overlord) or V(kubernetes_task_runner).
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
from ansible_collections.druidops.druid.plugins.module_utils._operations.dynamic_config import ensure_overlord
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run

ARGUMENTS = {
    "config": DOCUMENT,
    "kubernetes_task_runner": DOCUMENT,
    **AUDIT,
    **UNKNOWN_FIELDS,
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
