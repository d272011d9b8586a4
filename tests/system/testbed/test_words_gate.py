# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The gate on words fails on a term in each sort of file, and names the standard term.

It is not a unit test, because ansible-test has neither the test bed, which builds Vale, nor the cache with Vale.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
STANDARD = "use the field's term ('blocking, or blocked by'), not 'in the way'"
PLANTED = {
    "docs/planted.md": ("# Title\n\nA pod is in the way.\n", f"3:10:Druidops.Terms:{STANDARD}"),
    "docs/clean.md": ("# Title\n\nA pod is blocking.\n\n```text\nin the way\n```\n", None),
    "plugins/planted.py": ('MESSAGE = "a pod is in the way"\n', f"1:11:Druidops.Terms:{STANDARD}"),
    "plugins/names.py": ("in_the_way = 1\n", "1: in_the_way: use the field's term (blocking), not 'in the way'"),
    "molecule/default/planted.yml": ("# a pod is in the way\n", f"1:12:Druidops.Terms:{STANDARD}"),
}


def test_a_planted_term_fails_the_gate(tmp_path: Path) -> None:
    for name, (text, _finding) in PLANTED.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    done = subprocess.run(
        [sys.executable, "-m", "tools.words", *PLANTED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr == ""
    expected = [f"{name}:{finding}" for name, (_text, finding) in PLANTED.items() if finding]
    assert sorted(done.stdout.splitlines()) == sorted(expected)
    assert done.returncode == 1
