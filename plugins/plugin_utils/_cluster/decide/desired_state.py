# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The desired objects, given what runs."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.duplicate_merge_keys import keep_duplicates
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired, render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster


def desired_state(cluster: Cluster, observed: Observed) -> Desired:
    """Return the rendered objects of the cluster: what a running group must keep is preserved."""
    return keep_duplicates(render(cluster, observed.preserved(cluster)), observed)
