# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Twenty clusters at once: all of them become ready, each object is made once, and then nothing is written any more."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.druid_operator import start
from ansible_collections.druidops.druid.tests.system.support.live import MADE, Live
from ansible_collections.druidops.druid.tests.system.support.operator_writes import made, repeated
from testbed.operator_plugin import StartOperator

NAMES = [f"c{number:02}" for number in range(20)]
KINDS_OF_ITS_OWN = [kind for kind in MADE if kind != "PersistentVolumeClaim"]


def test_twenty_clusters_at_once(
    operator: StartOperator, live: Live, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    mark, begin = live.mark(), time.monotonic()
    for name in NAMES:
        live.create(small_cluster.resource(name, small_cluster.spec(replicas=1)))
    started = start(operator, live, tmp_path)

    for name in NAMES:
        started.wait_until_ready(name)
    record_property("told", f"{len(NAMES)} clusters at once: ready after {time.monotonic() - begin:.0f} s")
    started.wait_until_settled(*NAMES)

    created = made(started.events(mark))
    assert repeated(created) == {}
    assert len(created) == sum(len(live.names(kind)) for kind in KINDS_OF_ITS_OWN)
