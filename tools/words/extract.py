# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What people read in a file, on the lines where it stands there."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

_READ = frozenset({tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1)})
_BEFORE_DOCSTRING = frozenset({tokenize.ENCODING, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT})
# What surrounds a line of a string or of a comment.
_MARKS = re.compile(r"""^\s*(?:[bfru]{0,2}["']+|#+)?|["']*\s*$""", re.IGNORECASE)
_SKIPPED = frozenset({tokenize.NL, tokenize.COMMENT})


def text_of(file: Path) -> str:
    """Return the text of a document, or the strings and comments of a program; of a test, its names and docstrings."""
    source = file.read_text(encoding="utf-8")
    if file.suffix != ".py":
        return source
    return _names_and_docstrings(source) if file.parts[0] == "tests" else _strings_and_comments(source)


def words_of_name(file: Path) -> str:
    """Return the name of a file as words."""
    return " ".join(part for name in file.with_suffix("").parts for part in name.replace("-", "_").split("_") if part)


def _strings_and_comments(source: str) -> str:
    return _on_their_lines(source, ((token, token.string) for token in _tokens(source) if token.type in _READ))


def _names_and_docstrings(source: str) -> str:
    """Return the names of functions and classes, docstrings and comments. Other strings of a test are data."""
    return _on_their_lines(source, _names_and_docstrings_of(_tokens(source)))


def _names_and_docstrings_of(tokens: Iterable[tokenize.TokenInfo]) -> Iterator[tuple[tokenize.TokenInfo, str]]:
    kind, name = tokenize.ENCODING, ""
    for token in tokens:
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and kind in _BEFORE_DOCSTRING):
            yield token, token.string
        elif token.type == tokenize.NAME and name in ("def", "class"):
            yield token, token.string.replace("_", " ")
        if token.type not in _SKIPPED:
            kind, name = token.type, token.string


def _tokens(source: str) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(source).readline)


def _on_their_lines(source: str, texts: Iterable[tuple[tokenize.TokenInfo, str]]) -> str:
    lines = [""] * (source.count("\n") + 2)
    for token, text in texts:
        for number, line in enumerate(text.splitlines(), token.start[0]):
            lines[number - 1] += f" {_MARKS.sub('', line)}"
    return "\n".join(lines)
