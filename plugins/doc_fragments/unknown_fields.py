# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The option for unknown fields. The argument spec is module_utils/_operations/argspec.py: UNKNOWN_FIELDS."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment ``druidops.druid.unknown_fields``."""

    DOCUMENTATION = r"""
options:
  unknown_fields:
    description:
      - What to do if Druid does not know a specified field, such as one with a typing error, which it drops.
      - V(warn) sets the other fields, and names the unknown ones in a warning.
      - V(fail) is an error that names them. Where Druid has shown that it does not know a field, nothing is sent, and
        check mode fails as well. Of a supervisor and a compaction, only the write of a field shows that. The module
        then fails after the change, and the other fields are set. Later runs warn of the field.
      - Druid's response also lacks some fields that have their default. With V(fail), leave these out.
    type: str
    choices: [warn, fail]
    default: warn
"""
