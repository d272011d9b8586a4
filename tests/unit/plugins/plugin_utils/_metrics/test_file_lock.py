# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A file lock between real processes."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.file_lock import FileLock, LockTimeout, file_lock

# Increments a number: concurrent processes would lose increments. It loads the module by its path, because the
# import path of a new Python process depends on how the tests are run.
INCREMENTS = """
import sys, time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
module, lock, number = map(Path, sys.argv[1:])
specification = spec_from_file_location("locks", module)
locks = sys.modules["locks"] = module_from_spec(specification)
specification.loader.exec_module(locks)
for _increment in range(25):
    with locks.file_lock(lock, 60):
        before = int(number.read_text())
        time.sleep(0.001)
        number.write_text(str(before + 1))
"""


def test_lock_is_exclusive(tmp_path: Path) -> None:
    number = tmp_path / "number"
    number.write_text("0")
    command = [sys.executable, "-c", INCREMENTS, inspect.getfile(FileLock), str(tmp_path / "lock"), str(number)]
    processes = [subprocess.Popen(command) for _process in range(3)]
    assert [each.wait() for each in processes] == [0, 0, 0]
    assert number.read_text() == "75"


def test_lock_timeout(tmp_path: Path) -> None:
    with (
        file_lock(tmp_path / "lock", 1),
        pytest.raises(LockTimeout, match=r"lock was locked by other processes"),
        file_lock(tmp_path / "lock", 0),
    ):
        pytest.fail("locked twice")
    with file_lock(tmp_path / "lock", 0):
        pass


def test_symbolic_link_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LockTimeout, match="cannot be used"), file_lock(tmp_path / "lock", 1):
        pytest.fail("link was followed")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("content", "now", "is_due"),
    [
        (None, 100.0, True),
        ('{"this": 100.0}', 100.0, False),
        ('{"this": 100.0, "that": 1.0}', 109.9, False),
        ('{"this": 100.0}', 110.0, True),
        ('{"that": 100.0}', 100.0, True),
        # the machine was rebooted
        ('{"this": 100.0}', 5.0, True),
        ("nonsense", 100.0, True),
        ("[1]", 100.0, True),
        ('{"this": "soon"}', 100.0, True),
    ],
)
def test_is_due(tmp_path: Path, content: str | None, now: float, is_due: bool) -> None:
    file = tmp_path / "lock"
    file.write_text(content or "")
    descriptor = os.open(file, os.O_RDWR)
    mine = FileLock(descriptor, lambda: now)
    assert mine.is_due("this", 10) is is_due
    mine.record_run("this")
    mine.record_run("another")
    assert not mine.is_due("this", 10)
    assert ("that" in file.read_text()) is ("that" in (content or ""))
    os.close(descriptor)
