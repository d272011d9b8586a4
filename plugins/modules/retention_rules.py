#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: retention_rules
short_description: Keep the retention rules of a datasource of Apache Druid as they are declared
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Keeps the rules that say which segments are loaded, on which tiers and how often, and which are dropped.
  - The list is wanted as a whole, and in its order. Each rule is wanted exactly as it is stated, where a field that
    is not stated has Druid's default, so that a tier that is taken out of C(tieredReplicants) is gone.
  - Both are compared in Druid's own notation. Rules that are as they should be are not sent again. State intervals by
    their two ends, since one with a period in it (C(2020-01-01/P1Y)) is taken for another one in each run.
  - Rules of a datasource of which there has not been any segment for long are removed by Druid itself
    (C(druid.coordinator.kill.rule.on)).
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.audit
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
options:
  datasource:
    description:
      - The datasource. V(_default) is for the rules of all datasources, which come after their own ones.
    type: str
    required: true
  rules:
    description:
      - The rules in Druid's own structure. The first one that fits an interval counts.
      - An empty list removes them, so that those of V(_default) alone count. V(_default) itself cannot be empty.
    type: list
    elements: dict
    required: true
seealso:
  - module: druidops.druid.retention_rules_info
  - name: Retention rules API
    description: What Druid does.
    link: https://druid.apache.org/docs/latest/api-reference/retention-rules-api
"""

EXAMPLES = r"""
- name: Keep a month, and drop what is older
  druidops.druid.retention_rules:
    url: http://localhost:8888
    datasource: wikipedia
    rules:
      - {type: loadByPeriod, period: P1M, tieredReplicants: {_default_tier: 2}}
      - {type: dropForever}
    comment: a month is what the reports need

- name: Let the rules of the cluster count
  druidops.druid.retention_rules:
    url: http://localhost:8888
    datasource: wikipedia
    rules: []
"""

RETURN = r"""
retention_rules:
  description: What became of the rules. One entry.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: The datasource.
      type: str
    changed:
      description: Whether they were, or in check mode would be, changed.
      type: bool
    rules:
      description: The rules as Druid has them now (in check mode, would have).
      type: list
      elements: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import AUDIT, CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run
from ansible_collections.druidops.druid.plugins.module_utils._operations.retention_rules import ensure_rules

ARGUMENTS = {
    "datasource": {"type": "str", "required": True},
    "rules": {"type": "list", "elements": "dict", "required": True},
    **AUDIT,
}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: ensure_rules(client, module.params, check_mode=module.check_mode))


if __name__ == "__main__":
    main()
