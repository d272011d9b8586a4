# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Non-standard terms in the names that a program defines: of files, functions, classes, variables and attributes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from .extract import words_of_name

_FILE = Path(__file__).with_suffix(".yml")
TERMS: Mapping[str, str] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_TERM = re.compile(rf"\b({'|'.join(map(re.escape, TERMS))})\b")


def findings(file: Path) -> Iterator[str]:
    """Yield a line for each name in a Python file that has such a term, and for the name of the file itself."""
    if term := _TERM.search(words_of_name(file).lower()):
        yield _finding(file, 1, file.name, term[0])
    for line, name in sorted(set(names(file.read_text(encoding="utf-8")))):
        # prose linting reads the names of tests, which are sentences
        if not name.startswith("test_") and (term := _TERM.search(words(name))):
            yield _finding(file, line, name, term[0])


def names(source: str) -> Iterator[tuple[int, str]]:
    """Yield the names that a program defines, each with its line; not the names that it only uses."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.lineno, node.name
        elif isinstance(node, ast.alias) and node.asname:
            yield node.lineno, node.asname


def words(name: str) -> str:
    """Return an identifier as words in lower case."""
    return " ".join(_WORD.findall(name)).lower()


def _finding(file: Path, line: int, name: str, term: str) -> str:
    return f"{file}:{line}: {name}: use the field's term ({TERMS[term]}), not '{term}'"
