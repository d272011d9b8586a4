# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`make demo` on a machine that can run a real node."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from testbed.control_plane import ControlPlane

pytestmark = pytest.mark.xdist_group("node")

ROOT = Path(__file__).parents[3]
SOURCES = Path(os.environ["DRUIDOPS_INSTALLED"], "ansible_collections/druidops/druid")


@pytest.fixture
def directory(can_run_nodes: None, tmp_path: Path) -> Iterator[Path]:
    """The directory of a demo, which is stopped afterwards."""
    yield tmp_path / "demo"
    assert ControlPlane.remove(tmp_path / "demo" / "control-plane")


@campaign("the playbook creates the same cluster, which answers the same query")
def test_shows_the_answer_of_a_druid(directory: Path) -> None:
    environment = {**os.environ, "KUBERNETES": "1.34", "ANSIBLE_HOME": str(directory / "ansible")}
    command = ["tools/demo/run", directory, SOURCES]
    finished = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert r"[{\"page\": \"start\", \"visits\": 3}, {\"page\": \"help\", \"visits\": 2}]" in finished.stdout
    assert "Druid runs in containers on this machine" in finished.stdout
