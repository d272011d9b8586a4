#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: retention_rules
short_description: Manage the retention rules of an Apache Druid datasource
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Manages the rules that define which segments are loaded, on which tiers, with how many replicas, and which segments
    are dropped.
  - The list replaces the current rules as a whole, including their order. A field of a rule that is not specified has
    Druid's default, so a tier that is not in C(tieredReplicants) is removed from the rule.
  - Rules are compared in Druid's own form. Rules without changes are not sent.
  - Druid removes the rules of a datasource that has had no segments for a long time
    (C(druid.coordinator.kill.rule.on)).
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.audit
  - druidops.druid.attributes
  - druidops.druid.attributes.druid
options:
  datasource:
    description:
      - The datasource. V(_default) stands for the rules of the cluster, which apply after a datasource's own rules.
    type: str
    required: true
  rules:
    description:
      - The rules in Druid's own format. The first rule that matches a segment's interval applies.
      - An empty list removes the rules, so that only those of V(_default) apply. V(_default) itself cannot be empty.
    type: list
    elements: dict
    required: true
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

- name: Use only the rules of the cluster
  druidops.druid.retention_rules:
    url: http://localhost:8888
    datasource: wikipedia
    rules: []
"""

RETURN = r"""
retention_rules:
  description: The result, with one entry.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: The datasource.
      type: str
    changed:
      description: Whether the rules changed, or in check mode would change.
      type: bool
    rules:
      description: The resulting rules (in check mode, the predicted ones).
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
