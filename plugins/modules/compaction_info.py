#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: compaction_info
short_description: Get information about automatic compaction in Apache Druid
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Returns the configurations and the progress of automatic compaction. Changes nothing.
extends_documentation_fragment:
  - druidops.druid.connection
  - druidops.druid.attributes.druid
  - druidops.druid.attributes.info
options:
  datasource:
    description: Return only this datasource.
    type: str
  status:
    description: Whether to return the progress as well. This takes one request for all datasources.
    type: bool
    default: true
seealso:
  - module: druidops.druid.compaction
  - module: druidops.druid.dynamic_config_info
"""

EXAMPLES = r"""
- name: Get all compaction configurations
  druidops.druid.compaction_info:
    url: http://localhost:8888
  register: found

- name: Print the datasources
  ansible.builtin.debug:
    msg: "{{ found.compactions | map(attribute='datasource') }}"
"""

RETURN = r"""
compactions:
  description: The datasources with automatic compaction, sorted by name.
  type: list
  elements: dict
  returned: always
  contains:
    datasource:
      description: The datasource.
      type: str
    config:
      description: The configuration in Druid's own form.
      type: dict
    status:
      description:
        - Druid's counts of bytes, segments and intervals that are compacted, pending or skipped. Null if Druid has not
          processed the datasource yet.
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
    run(module, lambda client: {"changed": False, "compactions": compaction_info(client, module.params)})


if __name__ == "__main__":
    main()
