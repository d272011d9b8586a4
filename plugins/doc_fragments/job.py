# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What task and sql_ingest have in common. The argument spec is module_utils/_operations/argspec.py: JOB."""

from __future__ import annotations


class ModuleDocFragment:
    """What a module gets by ``extends_documentation_fragment: druidops.druid.job``."""

    DOCUMENTATION = r"""
attributes:
  check_mode:
    support: full
    details: Sends nothing but GET requests.
  diff_mode:
    support: full
  idempotent:
    support: full
    details: What was submitted is not submitted again, whatever became of it, unless O(retry) is true.
options:
  state:
    description:
      - V(present) submits it if it is not there. V(absent) shuts it down if it runs.
    type: str
    choices: [present, absent]
    default: present
  retry:
    description:
      - Submit it again if it has failed. Druid takes each id once, so that attempts after the first have C(_2), C(_3)
        and so on behind their id.
    type: bool
    default: false
  wait:
    description:
      - Wait until it has ended. Fails when its task has failed, with Druid's words.
    type: bool
    default: false
  wait_timeout:
    description: Seconds to wait.
    type: float
    default: 3600.0
"""
