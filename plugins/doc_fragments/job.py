# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The common options of task and sql_ingest. The argument spec is module_utils/_operations/argspec.py: JOB."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment ``druidops.druid.job``."""

    DOCUMENTATION = r"""
attributes:
  check_mode:
    support: full
    details: Sends only GET requests.
  diff_mode:
    support: full
  idempotent:
    support: full
    details: A job is submitted only once, whatever its result, unless O(retry) is true.
options:
  retry:
    description:
      - Submit the job again if it has failed. Druid accepts each id only once, so the ids of later attempts have the
        suffix C(_2), C(_3) and so on.
    type: bool
    default: false
  wait:
    description:
      - Wait until all jobs have ended. If a task has failed, the module fails with Druid's message.
    type: bool
    default: false
  wait_timeout:
    description: How long to wait for all jobs together, in seconds.
    type: float
    default: 3600.0
"""
