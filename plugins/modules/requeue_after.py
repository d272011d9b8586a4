#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This is the documentation of the action plugin of the same name; the code is plugins/action/requeue_after.py.

from __future__ import annotations

DOCUMENTATION = r"""
module: requeue_after
short_description: Requeue a resource in ansible-operator after a delay
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Ends a run of operator-sdk's Ansible operator, and requeues the resource earlier than the operator's reconcile
    period.
  - The operator recognizes this task by its action's short name. Use C(requeue_after) without the collection's name, in
    a play with C(collections) that lists C(druidops.druid). It must be the last task, since the operator does not wait
    for any task after it.
  - Outside of the operator it has no effect.
attributes:
  action:
    support: full
    description: Runs on the controller.
  check_mode:
    support: full
    description: Changes nothing.
  diff_mode:
    support: none
    description: Changes nothing.
  idempotent:
    support: full
    description: Changes nothing.
options:
  seconds:
    description: The delay in seconds.
    type: int
    required: true
"""

EXAMPLES = r"""
# In a play with collections: [druidops.druid]
- name: Reconcile the resource again in ten seconds
  requeue_after:
    seconds: 10
"""

RETURN = r"""
period:
  description: The delay as a Go duration, which the operator reads.
  returned: always
  type: str
  sample: 10s
"""
