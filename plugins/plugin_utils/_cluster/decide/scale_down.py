# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pods and PVCs that a StatefulSet has above a number of replicas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import ordinal_of
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating


def pods_above(name: str, ordinal: int, observed: Observed) -> Iterator[int]:
    """Yield the ordinals of the pods of the StatefulSet from `ordinal` on."""
    for pod in observed.of_kind("Pod"):
        found = ordinal_of(pod, name)
        if found is not None and found >= ordinal:
            yield found


def pvcs_above(name: str, templates: Iterable[str], ordinal: int, observed: Observed) -> list[str]:
    """Return the names of the PVCs of the StatefulSet's pods from `ordinal` on, except terminating ones."""
    stems = "|".join(map(re.escape, templates))
    pattern = re.compile(rf"(?:{stems})-{re.escape(name)}-([0-9]+)")
    matches = (
        pattern.fullmatch(live["metadata"]["name"])
        for live in observed.of_kind("PersistentVolumeClaim")
        if not is_terminating(live)
    )
    found = [match for match in matches if match is not None and int(match[1]) >= ordinal]
    return [match[0] for match in sorted(found, key=lambda match: (int(match[1]), match[0]))]
