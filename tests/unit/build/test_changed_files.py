# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether bytecode belongs to its source, and whether files have changed."""

from __future__ import annotations

import os
import py_compile
from pathlib import Path
from py_compile import PycInvalidationMode

import pytest
from ansible_collections.druidops.druid.build.runner import changed_files


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "module.py"
    file.write_text("A = 1\n")
    return file


@pytest.mark.parametrize("mode", PycInvalidationMode)
def test_bytecode_of_this_source_is_accepted(source: Path, mode: PycInvalidationMode) -> None:
    py_compile.compile(str(source), invalidation_mode=mode)
    assert changed_files.outdated_bytecode({str(source): (0, 0)}) == ""


def test_source_without_bytecode_is_accepted(source: Path) -> None:
    assert changed_files.outdated_bytecode({str(source): (0, 0)}) == ""


def test_unchecked_bytecode_of_another_source_is_named(source: Path) -> None:
    py_compile.compile(str(source), invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
    source.write_text("A = 2\n")
    reason = changed_files.outdated_bytecode({str(source): (0, 0)})
    assert reason == (
        f"{source} has changed after its bytecode was compiled; compile it: python3 -m compileall -f {source.parent}"
    )


def test_bytecode_that_python_compares_itself_is_accepted(source: Path) -> None:
    py_compile.compile(str(source), invalidation_mode=PycInvalidationMode.TIMESTAMP)
    source.write_text("A = 2\n")
    assert changed_files.outdated_bytecode({str(source): (0, 0)}) == ""


def test_any_difference_is_a_change(source: Path) -> None:
    found = os.stat(source)
    files = {str(source): (found.st_mtime_ns, found.st_size)}
    assert not changed_files.is_changed(files)
    os.utime(source, (1, 1))
    assert changed_files.is_changed(files)
    source.unlink()
    assert changed_files.is_changed(files)
