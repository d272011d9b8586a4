# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`make demo` on a machine that can run a real node."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from testbed.control_plane import ControlPlane

pytestmark = pytest.mark.xdist_group("node")

ROOT = Path(__file__).parents[3]
ROWS = re.compile(r"^  page +visits\n  -+  -+\n  start +3\n  help +2$", re.MULTILINE)
SOURCES = Path(os.environ["DRUIDOPS_INSTALLED"], "ansible_collections/druidops/druid")


@pytest.fixture
def directory(can_run_nodes: None, tmp_path: Path) -> Iterator[Path]:
    """The directory of a demo, which is stopped afterwards."""
    yield tmp_path / "demo"
    assert ControlPlane.remove(tmp_path / "demo" / "control-plane")


@campaign("the playbook creates the same cluster, which answers the same query; the commands are data with a unit test")
def test_all_that_it_shows_and_suggests_works(directory: Path) -> None:
    environment = {
        **os.environ,
        "KUBERNETES": "1.34",
        "ANSIBLE_HOME": str(directory / "ansible"),
        "PYTHONPATH": "tests",
    }
    shown = run(sys.executable, "-m", "tools.demo", directory, SOURCES, **environment)
    assert ROWS.search(shown), shown
    heading, _title, suggested = shown.partition("==> What to try next\n")
    assert "simulated" not in heading
    # the last one stops the checkout's own demo, not this one
    *commands, stop = [line for line in suggested.splitlines() if line and not line.startswith("#")]
    assert stop.startswith("make -C ")
    pasted = run("bash", "-euo", "pipefail", "-c", "\n".join(commands), **environment)
    for seen in ('[{"page":"start","visits":3},{"page":"help","visits":2}]', "restart 5: group coordinators", "6/6"):
        assert seen in pasted


def run(*command: str | Path, **environment: str) -> str:
    """Return the output of a command in the checkout."""
    finished = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout
