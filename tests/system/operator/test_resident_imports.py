# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the resident process imports, with each ansible-core."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

COLLECTION = Path(__file__).parents[3]
IMPORT = """
import sys

sys.path[:0] = {paths}
from build.runner import kubernetes_models

kubernetes_models.leave_out()
from build.runner import reconcile

reconcile.load_all()
print(sorted(name for name in sys.modules if name.partition(".")[0] in ("ansible", "ansible_runner")))
"""


@pytest.mark.parametrize("python", ["DRUIDOPS_OPERATOR", "DRUIDOPS_CORE_2_18", "DRUIDOPS_CORE_2_19"])
def test_no_ansible_is_imported(python: str) -> None:
    collections = COLLECTION.resolve()
    paths = [str(COLLECTION), *os.environ["PYTHONPATH"].split(os.pathsep)]
    program = Path(os.environ[python], "bin", "python")
    if not program.exists():
        pytest.fail(f"{program} does not exist: make integration installs it ({collections})")
    done = subprocess.run([program, "-c", IMPORT.format(paths=paths)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
