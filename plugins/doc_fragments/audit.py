# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Druid's audit history shall say. The argument spec is module_utils/_operations/argspec.py: AUDIT."""

from __future__ import annotations


class ModuleDocFragment:
    """What a module gets by ``extends_documentation_fragment: druidops.druid.audit``."""

    DOCUMENTATION = r"""
attributes:
  check_mode:
    support: full
    details: Sends nothing but GET requests.
  diff_mode:
    support: full
  idempotent:
    support: full
    details: What is as it should be is not sent again.
options:
  author:
    description: Who changes it, for Druid's audit history.
    type: str
  comment:
    description: Why it is changed, for Druid's audit history.
    type: str
"""
