# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A group of Historicals that was removed from the spec."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning import removal_warnings
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling


def removal(group: str = "historicals", **spec: Any) -> Step:
    """The deletion of the workload of a group that the spec does not have any more."""
    which = rolling.cluster(nodes={group: spec})
    live = rolling.observed(which).objects[ObjectKey("StatefulSet", f"druid-c-{group}")]
    return Delete(live=live)


@pytest.mark.parametrize(
    ("step", "spec", "is_expected"),
    [
        pytest.param(removal(), {"historicalDecommissionStrategy": {}}, True, id="Historicals"),
        pytest.param(removal(), {}, False, id="without a strategy"),
        pytest.param(removal(), {"historicalDecommissionStrategy": {}, "stopped": True}, False, id="stopped"),
        pytest.param(removal(replicas=0), {"historicalDecommissionStrategy": {}}, False, id="no pods"),
        pytest.param(removal("brokers"), {"historicalDecommissionStrategy": {}}, False, id="others"),
        pytest.param(
            replace(removal(), group="historicals"), {"historicalDecommissionStrategy": {}}, False, id="another kind"
        ),
    ],
)
def test_a_warning_describes_the_safe_way(step: Step, spec: dict[str, Any], is_expected: bool) -> None:
    found = [*removal_warnings(rolling.cluster(**spec), [step, step])]
    assert len(found) == is_expected
    assert all(
        text.startswith("StatefulSet druid-c-historicals: group historicals was removed") and "replicas: 0" in text
        for text in found
    )
