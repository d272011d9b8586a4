# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options for Druid's audit history. The argument spec is module_utils/_operations/argspec.py: AUDIT."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment ``druidops.druid.audit``."""

    DOCUMENTATION = r"""
attributes:
  check_mode:
    support: full
    details: Sends only GET requests.
  diff_mode:
    support: full
  idempotent:
    support: full
    details: A resource in the desired state is not sent.
options:
  author:
    description: The author of the change, for Druid's audit history.
    type: str
  comment:
    description:
      - The reason for the change, for Druid's audit history.
      - For dynamic configurations and retention rules, a digest of the specification follows it there.
    type: str
"""
