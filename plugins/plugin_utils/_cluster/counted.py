# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is told of all clusters."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._census import Conditions, Counted, is_true
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import is_reached


def is_as_wanted(conditions: Conditions) -> bool:
    """Return whether nobody waits for the cluster: it is ready, stopped or paused."""
    return is_reached(conditions.values()) or is_true(conditions, "Paused")


COUNTED = Counted(names.KIND, "clusters", ("Ready", "Progressing", "Degraded", "Paused"), is_as_wanted)
