# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A requested restart: an annotation of the resource that becomes one of the pods."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.pod import ignored_requests
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import Preserved
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid

ALL, ONE = "druid.apache.org/restarted-at", "restarted-at.druid.apache.org/brokers"
OTHER = "restarted-at.druid.apache.org/historicals"
EARLY, LATE = "2026-01-02T03:04:05Z", "2026-01-02T04:04:06+01:00"
# (annotations of the resource, annotation of the live pods, annotation afterwards, number of warnings)
TABLE: list[tuple[dict[str, str], str | None, str | None, int]] = [
    ({}, None, None, 0),
    ({ALL: EARLY}, None, EARLY, 0),
    ({ONE: EARLY}, None, EARLY, 0),
    ({OTHER: EARLY}, None, None, 0),
    ({ALL: EARLY, ONE: LATE}, None, LATE, 0),
    ({ALL: LATE, ONE: EARLY}, None, LATE, 0),
    # One that is removed or set back restarts nothing.
    ({}, EARLY, EARLY, 0),
    ({ALL: EARLY}, LATE, LATE, 0),
    ({ALL: LATE}, EARLY, LATE, 0),
    ({ALL: "now"}, None, None, 1),
    ({ALL: "now", ONE: "{{ 1 }}"}, EARLY, EARLY, 2),
    ({ALL: "2026-13-02T03:04:05Z"}, None, None, 1),
    ({ALL: "2026-01-02 03:04:05"}, EARLY, EARLY, 1),
    # What another client has written to the pods stays.
    ({ALL: EARLY}, "a restart", EARLY, 0),
    ({}, "a restart", "a restart", 0),
]


@pytest.mark.parametrize(("annotations", "live", "after", "warnings"), TABLE)
def test_restart(annotations: dict[str, str], live: str | None, after: str | None, warnings: int) -> None:
    resource = druid.resource()
    resource["metadata"]["annotations"] = annotations
    cluster = Cluster.from_resource(resource)
    desired = render(cluster, {"brokers": Preserved(restarted_at=live)})
    [workload] = [each for each in desired.objects if each["kind"] == "StatefulSet"]
    template: dict[str, Any] = workload["spec"]["template"]
    assert (template["metadata"].get("annotations") or {}).get(ALL) == after
    assert sum(len(ignored_requests(group)) for group in cluster.groups) == warnings


def test_the_time_of_the_live_pods_is_preserved() -> None:
    resource = druid.resource()
    resource["metadata"]["annotations"] = {ALL: EARLY}
    [workload] = [each for each in render(Cluster.from_resource(resource)).objects if each["kind"] == "StatefulSet"]
    assert Preserved.from_workload({**workload, "metadata": {"name": "druid-c-brokers"}}).restarted_at == EARLY
