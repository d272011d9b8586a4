# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fail on non-standard terms in documents, messages, docstrings, comments, file names and identifiers.

Usage: python -m tools.words FILE ...

Run it from the root of the checkout. The terms: styles/Druidops/Terms.yml, and identifiers.yml for identifiers.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from .across_lines import across_lines
from .extract import text_of, words_of_name
from .identifiers import findings
from .run_vale import vale

_STYLES = Path(__file__).parent / "styles"
_TERMS = Path("Druidops", "Terms.yml")
_SETTINGS = "StylesPath = {styles}\nMinAlertLevel = error\n\n[*]\nBasedOnStyles = Druidops\n"
_NAMES = "name of"


def main() -> None:
    """Print the findings, a line each, with the standard term."""
    with tempfile.TemporaryDirectory() as scratch:
        files = [Path(name) for name in sys.argv[1:]]
        found = [*_found(files, Path(scratch)), *_found_in_names(files)]
    sys.stdout.write("".join(f"{line}\n" for line in found))
    sys.exit(1 if found else 0)


def _found(files: Sequence[Path], scratch: Path) -> list[str]:
    styles = shutil.copytree(_STYLES, scratch / "styles")
    (styles / _TERMS).write_text(across_lines((_STYLES / _TERMS).read_text(encoding="utf-8")), encoding="utf-8")
    (scratch / "vale.ini").write_text(_SETTINGS.format(styles=styles), encoding="utf-8")
    texts = scratch / "texts"
    for file in files:
        # programs as plain text; documents in their format, so that code blocks are ignored
        target = texts / (f"{file}.txt" if file.suffix == ".py" else file)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text_of(file), encoding="utf-8")
    for file in files:
        target = texts / _NAMES / f"{file}.txt"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(words_of_name(file), encoding="utf-8")
    options: list[str | Path] = ["--config", scratch / "vale.ini", "--output", "line", "--no-wrap"]
    done = subprocess.run([vale(), *options, texts], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or done.stderr:
        sys.exit(done.stderr or done.stdout)
    prefix = f"{texts}/"
    return [line.removeprefix(prefix).replace(".py.txt:", ".py:") for line in done.stdout.splitlines()]


def _found_in_names(files: Iterable[Path]) -> Iterator[str]:
    return chain.from_iterable(findings(file) for file in files if file.suffix == ".py")


if __name__ == "__main__":
    main()
