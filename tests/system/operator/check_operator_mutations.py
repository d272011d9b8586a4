# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tests of the stand-in detect mutations: each runs against a mutated copy."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import testbed
from ansible_collections.druidops.druid.tests.system.support.operator_mutations import MUTATIONS, Mutation
from testbed.control_plane import ControlPlane
from testbed.operator.started import STAND_IN

CONTRACT = Path(__file__).with_name("test_operator_stand_in.py")
# Seconds for what will not come; far more than it takes where it comes.
TIMEOUT = "20"


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.broken.replace(" ", "-"))
def test_mutation_is_detected(mutation: Mutation, control_plane: ControlPlane, tmp_path: Path) -> None:
    """The test that passes with the unchanged stand-in fails."""
    package = tmp_path / "tests" / "testbed"
    shutil.copytree(Path(testbed.__file__).parent, package)
    file = package / "operator" / mutation.file
    sound = file.read_text()
    assert sound.count(mutation.sound) == 1
    file.write_text(sound.replace(mutation.sound, mutation.instead))
    done = contract_test(mutation.noticed_by, control_plane, tmp_path, package.parent)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    # not for want of an operator
    assert "1 failed" in done.stdout
    assert "a ready operator" not in done.stdout


def contract_test(name: str, plane: ControlPlane, directory: Path, tests: Path) -> subprocess.CompletedProcess[str]:
    """One test, with the stand-in in that directory, on our own control plane."""
    options = ["-p", "no:cacheprovider", "--basetemp", str(directory / "pytest"), "--tb=short"]
    command = [sys.executable, "-m", "pytest", f"{CONTRACT}::{name}", *options]
    chosen = {STAND_IN: str(tests), "DRUIDOPS_PATIENCE": TIMEOUT, "DRUIDOPS_TESTBED": str(plane.directory)}
    # the variables of an xdist worker are not for others
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    root = Path(__file__).parents[3]
    environment = {**inherited, **chosen, "KUBERNETES": plane.kubernetes.minor}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
