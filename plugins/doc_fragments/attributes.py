# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What modules say of check mode, diff mode and of being run again."""

from __future__ import annotations


class ModuleDocFragment:
    """What a module gets by ``extends_documentation_fragment: druidops.druid.attributes``, and by the parts of it."""

    # For a module that changes something; it adds support, and details where there are any.
    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Tells what would change, and changes nothing.
  diff_mode:
    description: Shows what changes, with secrets masked.
  idempotent:
    description: Run again with the same options, it changes nothing.
"""

    # druidops.druid.attributes.info: for a module that changes nothing.
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

    # druidops.druid.attributes.druid: for whatever speaks HTTP with Druid.
    DRUID = r"""
options: {}
attributes:
  action_group:
    support: full
    description: Use C(group/druidops.druid.druid) in C(module_defaults) to state the connection once.
    membership: [druidops.druid.druid]
"""
