# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The attributes of modules: check mode, diff mode and idempotence."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment ``druidops.druid.attributes`` and its parts."""

    # For modules that make changes. They add support, and details if any.
    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can predict changes without making them.
  diff_mode:
    description: Returns details of the changes, with secrets masked.
  idempotent:
    description: A second run with the same options changes nothing.
"""

    # druidops.druid.attributes.info: for modules that change nothing.
    INFO = r"""
options: {}
attributes:
  check_mode:
    support: full
    description: Does the same in check mode.
  diff_mode:
    support: N/A
    description: Changes nothing.
  idempotent:
    support: full
    description: Changes nothing.
"""

    # druidops.druid.attributes.action: for the documentation of an action plugin.
    ACTION = r"""
options: {}
attributes:
  action:
    support: full
    description: Runs on the controller.
"""

    # druidops.druid.attributes.druid: for modules that connect to Druid.
    DRUID = r"""
options: {}
attributes:
  action_group:
    support: full
    description: Use C(group/druidops.druid.druid) in C(module_defaults) to set the connection options once.
    membership: [druidops.druid.druid]
"""
