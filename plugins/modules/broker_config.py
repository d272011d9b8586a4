#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: broker_config
short_description: Manage the dynamic configuration of Apache Druid Brokers
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Updates the dynamic configuration of the Brokers, which the Coordinator stores. Requires Druid 37 or newer.
  - Merges the specified fields into the current configuration, and sends only the fields that differ. Mappings are
    merged recursively. Lists are replaced as a whole, so elements that are not in the new list are removed. A field
    that is not specified keeps its value.
  - V(null) empties a list or a mapping. Druid's API cannot reset any other field to its default, so V(null) is an
    error there.
  - Each rule of C(queryBlocklist) replaces the current one exactly as specified.
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
      - Fields of the configuration in Druid's own format, C(queryBlocklist), C(queryContext) and
        C(perSegmentTimeoutConfig).
      - May also be a JSON or YAML string of a mapping.
    type: raw
    required: true
seealso:
  - module: druidops.druid.dynamic_config_info
  - name: Dynamic configuration API
    description: Druid's documentation of the API.
    link: https://druid.apache.org/docs/latest/api-reference/dynamic-configuration-api
"""

EXAMPLES = r"""
- name: Block the queries of a misbehaving tool
  druidops.druid.broker_config:
    url: http://localhost:8888
    config:
      queryBlocklist:
        - ruleName: misbehaving tool
          queryTypes: [scan]
          contextMatches: {tool: explorer}

- name: Unblock it
  druidops.druid.broker_config:
    url: http://localhost:8888
    config:
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
      description: The configuration's id, V(broker).
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
from ansible_collections.druidops.druid.plugins.module_utils._operations.dynamic_config import ensure_brokers
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run

ARGUMENTS = {
    "config": {**DOCUMENT, "required": True},
    **AUDIT,
    **UNKNOWN_FIELDS,
}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: ensure_brokers(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
