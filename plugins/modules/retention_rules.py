#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: retention_rules
short_description: Manage the retention rules of Apache Druid datasources
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Manages the rules that define which segments are loaded, on which tiers, with how many replicas, and which segments
    are dropped, for one datasource or for many in one call.
  - The list replaces the current rules as a whole, including their order. A field of a rule that is not specified has
    Druid's default, so a tier that is not in C(tieredReplicants) is removed from the rule.
  - Rules are compared in Druid's own form. Rules without changes are not sent.
  - Druid removes the rules of a datasource that has had no segments for a long time
    (C(druid.coordinator.kill.rule.on)).
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.unknown_fields
  - druidops.druid.audit
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
options:
  datasource:
    description:
      - The datasource. V(_default) stands for the rules of the cluster, which apply after a datasource's own rules.
    type: str
  rules:
    description:
      - The rules in Druid's own format. The first rule that matches a segment's interval applies.
      - May also be a JSON or YAML string of a list.
      - Required unless O(state=absent), and not empty, so that an empty variable removes nothing.
    type: raw
  state:
    description:
      - V(present) replaces the rules. V(absent) removes them, so that only those of V(_default) apply. V(_default)
        itself cannot be removed.
    type: str
    choices: [present, absent]
    default: present
  retention_rules:
    description:
      - A list of datasources and their rules, instead of O(datasource) and O(rules).
      - A failure does not stop the others. The module then fails at the end, and returns all results.
    type: list
    elements: dict
    suboptions:
      datasource:
        description: See O(datasource).
        type: str
      rules:
        description: See O(rules).
        type: raw
      state:
        description: See O(state), which is the default.
        type: str
        choices: [present, absent]
seealso:
  - module: druidops.druid.retention_rules_info
  - name: Retention rules API
    description: Druid's documentation of the API.
    link: https://druid.apache.org/docs/latest/api-reference/retention-rules-api
"""

EXAMPLES = r"""
- name: Keep one month of data
  druidops.druid.retention_rules:
    url: http://localhost:8888
    datasource: wikipedia
    rules:
      - {type: loadByPeriod, period: P1M, tieredReplicants: {_default_tier: 2}}
      - {type: dropForever}
    comment: reports need one month

- name: Manage the rules of many datasources at once
  druidops.druid.retention_rules:
    url: http://localhost:8888
    retention_rules:
      - datasource: clicks
        rules: [{type: loadForever}]
      - datasource: retired
        state: absent

- name: Use only the rules of the cluster
  druidops.druid.retention_rules:
    url: http://localhost:8888
    state: absent
    retention_rules:
      - datasource: wikipedia
      - datasource: clicks
"""

RETURN = r"""
retention_rules:
  description:
    - The result for each datasource, in the order of the options.
    - Without O(retention_rules), the fields of the only entry are also at the top level of the result.
  type: list
  elements: dict
  returned: always
  contains:
    datasource:
      description: The datasource.
      type: str
    changed:
      description: Whether the rules changed, or in check mode would change.
      type: bool
    rules:
      description: The resulting rules (in check mode, the predicted ones).
      type: list
      elements: dict
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
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import OneOrMany
from ansible_collections.druidops.druid.plugins.module_utils._operations.retention_rules import ensure_rules

RETENTION_RULES = OneOrMany(
    "retention_rules",
    {"datasource": {"type": "str"}, "rules": DOCUMENT},
)


def main() -> None:
    module = AnsibleModule(
        argument_spec={**CONNECTION, **RETENTION_RULES.arguments, **AUDIT, **UNKNOWN_FIELDS},
        supports_check_mode=True,
        **RETENTION_RULES.constraints,
    )
    run(module, lambda client: ensure_rules(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
