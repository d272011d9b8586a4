# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What people read in a file, on the lines where it stands there."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

_READ = frozenset({tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1)})


def text_of(file: Path) -> str:
    """Return the text of a document, or the strings and comments of a program in Python."""
    source = file.read_text(encoding="utf-8")
    return _strings_and_comments(source) if file.suffix == ".py" else source


def words_of_name(file: Path) -> str:
    """Return the name of a file as words."""
    return " ".join(part for name in file.with_suffix("").parts for part in name.replace("-", "_").split("_") if part)


def _strings_and_comments(source: str) -> str:
    lines = [""] * (source.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in _READ:
            for number, line in enumerate(token.string.splitlines(), token.start[0]):
                lines[number - 1] += f" {line.strip()}"
    return "\n".join(lines)
