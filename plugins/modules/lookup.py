#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: lookup
short_description: Manage Apache Druid lookups
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Creates, replaces and removes lookups, one or many in one call.
  - The factory replaces the current one as a whole. Druid returns it as it was sent, so it is compared exactly.
  - Druid replaces a lookup only if its new version sorts after the current one. The module makes such a version when it
    sends a lookup, and ignores the version when it compares, so a lookup without changes is not sent.
  - A Druid that never had any lookup rejects the first one. It is then initialized, with a warning.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.unknown_fields
  - druidops.druid.audit
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
options:
  id:
    description: The lookup's name, with which queries use it.
    type: str
  tier:
    description:
      - The tier whose servers load the lookup, C(druid.lookup.lookupTier) of the servers. Lookups with the same name in
        two tiers are independent of each other.
    type: str
    default: __default
  spec:
    description:
      - The lookup in Druid's own format, a mapping with C(lookupExtractorFactory), or a JSON or YAML string of it.
      - Quote the keys and values of a C(map). In YAML, C(NO), C(ON) and C(010) without quotes are no strings.
      - C(version) is not required. If it is set, it is the version of a new or changed lookup, and must then sort after
        the current one. A different version alone is no change.
      - Required unless O(state=absent).
    type: raw
  custom_type:
    description:
      - Whether the type of the factory may be that of an extension that is not part of Druid.
      - Druid accepts any type, also one with a typing error, and no server then loads the lookup. So an unknown type is
        an error without this option.
    type: bool
    default: false
  state:
    description:
      - V(present) creates or replaces the lookup. V(absent) removes it. The servers drop it when the Coordinator
        distributes lookups again, and queries that use it fail from then on.
    type: str
    choices: [present, absent]
    default: present
  lookups:
    description:
      - A list of lookups, instead of O(id), O(spec) and the other options of one lookup. They are read with a single
        request, or each on its own if the response would be too large.
      - A failure does not stop the others. The module then fails at the end, and returns all results.
    type: list
    elements: dict
    suboptions:
      id:
        description: See O(id).
        type: str
      tier:
        description: See O(tier).
        type: str
        default: __default
      spec:
        description: See O(spec).
        type: raw
      custom_type:
        description: See O(custom_type).
        type: bool
        default: false
      state:
        description: See O(state), which is the default.
        type: str
        choices: [present, absent]
  wait:
    description:
      - Wait until the servers of the tier have loaded this version of each lookup that should exist. All lookups are
        sent before the first one is waited for.
      - The servers are those that the Coordinator knows when the wait begins, and that are still there. Tasks count as
        servers. Those that start later load lookups when they start, so they are not waited for.
      - A server that cannot load a lookup, such as one without its extension, only writes that to its log. The module
        fails after O(wait_timeout), and names the server.
    type: bool
    default: false
  wait_timeout:
    description:
      - How long to wait for all lookups together, in seconds.
      - The Coordinator distributes lookups every two minutes (C(druid.manager.lookups.period)), and knows only one
        period later that they are loaded.
    type: float
    default: 600.0
seealso:
  - module: druidops.druid.lookup_info
  - name: Lookups API
    description: Druid's documentation of the API.
    link: https://druid.apache.org/docs/latest/api-reference/lookups-api
"""

EXAMPLES = r"""
- name: Map codes to names, and wait until queries can use that
  druidops.druid.lookup:
    url: http://localhost:8888
    id: countries
    spec:
      lookupExtractorFactory:
        type: map
        map: {'DE': Germany, 'FR': France}
    wait: true

- name: Read names from a table, and remove another lookup
  druidops.druid.lookup:
    url: http://localhost:8888
    lookups:
      - id: customers
        spec:
          lookupExtractorFactory:
            type: cachedNamespace
            extractionNamespace:
              type: jdbc
              connectorConfig:
                connectURI: jdbc:postgresql://db.example.com/shop
                user: druid
                password: {type: environment, variable: SHOP_PASSWORD}
              table: customers
              keyColumn: id
              valueColumn: name
              pollPeriod: PT10M
      - id: retired
        state: absent
    comment: names are read from the shop

- name: Remove both
  druidops.druid.lookup:
    url: http://localhost:8888
    state: absent
    lookups:
      - id: countries
      - id: customers
"""

RETURN = r"""
lookups:
  description:
    - The result for each lookup, in the order of the options.
    - Without O(lookups), the fields of the only entry are also at the top level of the result.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: The lookup's name.
      type: str
    tier:
      description: The tier.
      type: str
    changed:
      description: Whether the lookup changed, or in check mode would change.
      type: bool
    spec:
      description:
        - The resulting lookup (in check mode, the predicted one), without its version and with secrets masked. Null if
          it does not exist.
      type: dict
      returned: unless the item failed
    version:
      description: The version that Druid has, null if the lookup does not exist. In check mode that before the change.
      type: str
      returned: unless the item failed
    servers:
      description: The servers of the tier that were waited for, at the end of the wait.
      type: list
      elements: dict
      returned: with O(wait)
      contains:
        server:
          description: Host and port of the server, or of a task.
          type: str
        known:
          description:
            - Whether the Coordinator knows of any lookup that the server has loaded. It asks a server that has just
              started, such as a task, only after up to C(druid.manager.lookups.period).
          type: bool
        loaded:
          description: Whether the server has loaded the lookup in the version that Druid has.
          type: bool
        version:
          description: The version that the server has loaded, null if none.
          type: str
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
from ansible_collections.druidops.druid.plugins.module_utils._operations.lookup import ensure_lookup
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import OneOrMany

LOOKUPS = OneOrMany(
    "lookups",
    {
        "id": {"type": "str"},
        "tier": {"type": "str", "default": "__default"},
        "spec": DOCUMENT,
        "custom_type": {"type": "bool", "default": False},
    },
)
ARGUMENTS = {
    "wait": {"type": "bool", "default": False},
    "wait_timeout": {"type": "float", "default": 600.0},
    **AUDIT,
    **UNKNOWN_FIELDS,
}


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **LOOKUPS.arguments, **ARGUMENTS},
        supports_check_mode=True,
        **LOOKUPS.constraints,
    )
    run(module, lambda client: ensure_lookup(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
