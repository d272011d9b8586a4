# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The write of a workload whose pods must not restart yet: all of it but the pod template.

Nor its update strategy, if that is what has kept pods of an old revision so far, or the drain of its pods would begin.
"""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Kept, Step

_TEMPLATE, _STRATEGY = "template", "updateStrategy"


def without_restart(step: Step) -> Step | None:
    """Return the step with the live pod template; None if nothing else changes."""
    return step.keeping(_kept)


def _kept(step: Apply) -> Kept:
    fields = (_TEMPLATE, _STRATEGY) if step.released_pods or step.begins_drain else (_TEMPLATE,)
    return Kept(fields, step.until_restart)
