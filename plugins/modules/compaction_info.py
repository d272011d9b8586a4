#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: compaction_info
short_description: Tell how datasources of Apache Druid are compacted automatically
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns the configurations of automatic compaction, and how far it has come. Changes nothing.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.attributes.druid
  - druidops.druid.attributes.info
options:
  datasource:
    description: Only this datasource.
    type: str
  status:
    description: Whether to read how far compaction has come, too. One request for all.
    type: bool
    default: true
seealso:
  - module: druidops.druid.compaction
  - module: druidops.druid.dynamic_config_info
"""

EXAMPLES = r"""
- name: Look at what is compacted
  druidops.druid.compaction_info:
    url: http://localhost:8888
  register: found

- name: Name it
  ansible.builtin.debug:
    msg: "{{ found.compaction | map(attribute='id') }}"
"""

RETURN = r"""
compaction:
  description: The datasources that are compacted automatically, by name.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: The datasource.
      type: str
    config:
      description: The configuration in Druid's own notation.
      type: dict
    status:
      description:
        - Bytes, segments and intervals that are compacted, await it or are skipped, as Druid counts them. Null as
          long as Druid has not looked at the datasource.
      type: dict
      returned: with O(status)
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.druidops.druid.plugins.module_utils._operations.argspec import CONNECTION
from ansible_collections.druidops.druid.plugins.module_utils._operations.compaction import compaction_info
from ansible_collections.druidops.druid.plugins.module_utils._operations.module import run

ARGUMENTS = {"datasource": {"type": "str"}, "status": {"type": "bool", "default": True}}


def main() -> None:
    module = AnsibleModule(argument_spec={**CONNECTION, **ARGUMENTS}, supports_check_mode=True)
    run(module, lambda client: {"changed": False, "compaction": compaction_info(client, module.params)})


if __name__ == "__main__":
    main()
