# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does the user want hands off this cluster?"""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names, reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster


def pause(cluster: Cluster) -> Finding | None:
    """Return why nothing is written: the annotation of the Go operator, or spec.paused."""
    if cluster.annotations.get(names.IGNORED_ANNOTATION) == "true":
        message = f"The annotation {names.IGNORED_ANNOTATION} is set: nothing is changed until it is removed."
        return Finding(reasons.IGNORED, message, is_problem=False)
    if cluster.spec.get("paused"):
        return Finding(reasons.PAUSED, "spec.paused is set: nothing is changed until it is removed.", is_problem=False)
    return None
