# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the gate for words reads of a file, and how it finds a term on two lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tools.words.across_lines import across_lines
from ansible_collections.druidops.druid.tools.words.extract import text_of, words_of_name

SOURCE = '''"""A module."""

# A comment with a wrong
# term.
MESSAGE = (
    f"It has a wrong "
    f"term of {name}."
)


def test_a_wrong_term(value: str) -> None:
    """A wrong
    docstring."""
'''
TERM = re.compile(across_lines("swap:\n  'wrong term': right term\n").partition("'")[2].partition("'")[0])


def lines(file: str, root: Path) -> list[str]:
    path = root / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(SOURCE)
    return [line.strip() for line in text_of(path).splitlines()]


def test_strings_and_comments_of_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = lines("plugins/a.py", Path())
    assert [line for line in found if line] == [
        "A module.",
        "A comment with a wrong",
        "term.",
        "It has a wrong",
        "term of {name}.",
        "A wrong",
        "docstring.",
    ]
    assert len(TERM.findall("\n".join(found))) == 2


def test_names_and_docstrings_of_a_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = [line for line in lines("tests/a.py", Path()) if line]
    assert found == ["A module.", "A comment with a wrong", "term.", "test a wrong term", "A wrong", "docstring."]


def test_a_term_does_not_span_paragraphs() -> None:
    assert TERM.search("wrong\n  term")
    assert not TERM.search("wrong\n\nterm")


def test_words_of_a_name() -> None:
    assert words_of_name(Path("docs/two-words_more.md")) == "docs two words more"
