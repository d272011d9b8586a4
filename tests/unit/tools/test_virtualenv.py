# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A virtual environment is another one as soon as a requirement is."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.druidops.druid.tools.ci.virtualenv import directory_of


def test_included_files_are_part_of_the_name(tmp_path: Path) -> None:
    """Those that a requirements file names with -r."""
    including, included = tmp_path / "more.txt", tmp_path / "base.txt"
    including.write_text("# more\n-r base.txt\na==1\n")
    included.write_text("b==1\n")
    before = directory_of(tmp_path, including)
    assert before == directory_of(tmp_path, including)
    included.write_text("b==2\n")
    assert directory_of(tmp_path, including) != before
