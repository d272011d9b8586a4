# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The warning about direct memory is Druid's own decision: servers of a real Druid, that start and that do not."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.memory_warnings import memory_warnings
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from testbed.api import Api, ApiError
from testbed.druid.artifacts import build
from testbed.druid.configurations import configuration
from testbed.druid.jvm import Jvm, command, write_arguments
from testbed.druid.settings import PORTS, Layout, Passwords, settings
from testbed.druid.settings import properties as text_of
from testbed.druid.versions import version
from testbed.druid_plugin import release
from testbed.ports import reserved_ports
from testbed.processes import Processes

MIB = 1024**2
BUFFERS = {
    "druid.processing.buffer.sizeBytes": "10MiB",
    "druid.processing.numThreads": "2",
    "druid.processing.numMergeBuffers": "3",
}
# In MiB: 10 x (2 + 3 + 1), and of a Broker 10 x (3 + 1).
NEEDED = {"historical": 60, "broker": 40}
OLDEST = "27.0.0"


@campaign("the arithmetic, in a table of settings")
@pytest.mark.parametrize("server", NEEDED)
@pytest.mark.parametrize("number", [release(), OLDEST])
def test_warning_is_what_druid_reports_at_its_start(tmp_path: Path, number: str, server: str) -> None:
    needed = NEEDED[server]
    [warning] = warnings(server, f"-XX:MaxDirectMemorySize={needed - 1}m")
    remedy = warning.partition("Set ")[2].partition(",")[0]
    assert (remedy, warnings(server, remedy)) == (f"-XX:MaxDirectMemorySize={needed}m", [])
    with prepared(tmp_path, number, server) as (layout, arguments):
        # this one does not get as far as to need ZooKeeper
        refused = subprocess.run(
            [*arguments[:2], f"-XX:MaxDirectMemorySize={needed - 1}m", *arguments[2:4], server],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert refused.returncode != 0
        found = re.search(r"maxDirectMemory\[([\d,]+)\], memoryNeeded\[([\d,]+)\]", refused.stdout + refused.stderr)
        assert found, refused.stdout[-3000:] + refused.stderr[-3000:]
        assert [int(each.replace(",", "")) for each in found.groups()] == [(needed - 1) * MIB, needed * MIB]
        processes = Processes(tmp_path)
        try:
            processes.start(server, [*arguments[:2], remedy, *arguments[2:]], detached=False)
            api = Api(f"http://127.0.0.1:{layout.ports[server]}")
            processes.wait_for(
                f"a {server} that answers",
                lambda: api.request("GET", "/status/health") is True,
                not_yet=(ApiError, OSError),
                timeout=180,
                pause=0.2,
            )
        finally:
            processes.kill()


def warnings(server: str, options: str) -> list[str]:
    """The warnings about a group with these options of Java."""
    group = {"nodeType": server, "jvm.options": options, "runtime.properties": text_of(BUFFERS)}
    return [*memory_warnings(druid.cluster(group))]


@contextmanager
def prepared(directory: Path, number: str, server: str) -> Iterator[tuple[Layout, list[str]]]:
    """The files of a ZooKeeper and a server with these buffers, and the command that starts both in one JVM."""
    jvm = Jvm(server, ("zookeeper", server), 160)
    with reserved_ports(len(PORTS)) as ports:
        layout = Layout(directory, dict(zip(PORTS, ports, strict=True)))
        (directory / "tmp").mkdir()
        for name, values in settings(layout, configuration("open"), Passwords("a", "b", "c")).items():
            buffers = BUFFERS if name == server else {}
            layout.settings_of(name).write_text(text_of({**values, **buffers}))
        write_arguments(jvm, layout, build(version(number)), None)
        yield layout, command(jvm, layout)
