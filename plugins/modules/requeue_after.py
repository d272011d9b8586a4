#!/usr/bin/python
# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This is the documentation of the action plugin of the same name; the code is plugins/action/requeue_after.py.

from __future__ import annotations

DOCUMENTATION = r"""
module: requeue_after
short_description: Tell ansible-operator when to look at a resource again
version_added: 0.1.0
author:
  - druidops contributors (@druidops)
description:
  - Ends a run of operator-sdk's Ansible operator with a time for the next one, sooner than its period.
  - The operator knows this task by its name, so it has to be called C(requeue_after), without the collection, in a play
    with C(collections) that lists C(druidops.druid). It has to be the last task; the operator waits for no other.
  - Anywhere else it does nothing.
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
options:
  seconds:
    description: How long to wait, in seconds.
    type: int
    required: true
"""

EXAMPLES = r"""
# In a play with collections: [druidops.druid]
- name: Look at the resource again in ten seconds
  requeue_after:
    seconds: 10
"""

RETURN = r"""
period:
  description: What the operator reads, a duration as Go writes it.
  returned: always
  type: str
  sample: 10s
"""
