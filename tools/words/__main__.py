# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fail on non-standard terms in documents, messages, docstrings, comments and file names.

Usage: python -m tools.words FILE ...   (run from the root of the checkout; the terms: styles/Druidops/Terms.yml)
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .extract import text_of, words_of_name
from .vale import vale

_STYLES = Path(__file__).parent / "styles"
_SETTINGS = "StylesPath = {styles}\nMinAlertLevel = error\n\n[*]\nBasedOnStyles = Druidops\n"
_NAMES = "names of files"


def main() -> None:
    """Print the findings, a line each, with the standard term."""
    with tempfile.TemporaryDirectory() as scratch:
        found = _found([Path(name) for name in sys.argv[1:]], Path(scratch))
    sys.stdout.write("".join(f"{line}\n" for line in found))
    sys.exit(1 if found else 0)


def _found(files: Sequence[Path], scratch: Path) -> list[str]:
    (scratch / "vale.ini").write_text(_SETTINGS.format(styles=_STYLES), encoding="utf-8")
    texts = scratch / "texts"
    for file in files:
        # programs as plain text; documents in their format, so that code blocks are ignored
        target = texts / (f"{file}.txt" if file.suffix == ".py" else file)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text_of(file), encoding="utf-8")
    (texts / f"{_NAMES}.txt").write_text("\n\n".join(map(words_of_name, files)), encoding="utf-8")
    options: list[str | Path] = ["--config", scratch / "vale.ini", "--output", "line", "--no-wrap"]
    done = subprocess.run([vale(), *options, texts], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or done.stderr:
        sys.exit(done.stderr or done.stdout)
    prefix = f"{texts}/"
    return [line.removeprefix(prefix).replace(".py.txt:", ".py:") for line in done.stdout.splitlines()]


if __name__ == "__main__":
    main()
