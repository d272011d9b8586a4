# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Many clusters at once: all become ready, each object is created once, and nothing is written afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.druid_operator import start
from ansible_collections.druidops.druid.tests.system.support.namespace_client import CREATED_KINDS, NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.operator_writes import creations, repeated
from testbed.operator_plugin import StartOperator

KINDS_OF_ITS_OWN = [kind for kind in CREATED_KINDS if kind != "PersistentVolumeClaim"]


@campaign("three clusters beside failing ones")
@pytest.mark.parametrize("clusters", [3, 20])
def test_clusters_at_once(
    operator: StartOperator,
    live: NamespaceClient,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    clusters: int,
) -> None:
    names = [f"c{number:02}" for number in range(clusters)]
    mark, begin = live.mark(), time.monotonic()
    for name in names:
        live.create(small_cluster.resource(name, small_cluster.spec(replicas=1)))
    started = start(operator, live, tmp_path)

    for name in names:
        started.wait_until_ready(name)
    record_property("measurement", f"{len(names)} clusters at once: ready after {time.monotonic() - begin:.0f} s")
    started.wait_until_settled(*names)

    created = creations(started.events(mark))
    assert repeated(created) == {}
    assert len(created) == sum(len(live.names(kind)) for kind in KINDS_OF_ITS_OWN)
