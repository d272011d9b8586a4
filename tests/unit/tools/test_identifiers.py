# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The gate for words reads the names that a program defines."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tools.words.identifiers import TERMS, findings, names, words

PLANTED = [
    ("def things(): ...", "things"),
    ("class HeldBack: ...", "HeldBack"),
    ("def f(wanted): ...", "wanted"),
    ("def f(*, as_given=1): ...", "as_given"),
    ("lambda told: told", "told"),
    ("STATED = 1", "STATED"),
    ("stated: int = 1", "stated"),
    ("a, (b, *gone) = c", "gone"),
    ("self.is_going = True", "is_going"),
    ("for anybody_unwanted in all: ...", "anybody_unwanted"),
    ("[x for unasked in all]", "unasked"),
    ("with a as put_right: ...", "put_right"),
    ("try: ...\nexcept E as said: ...", "said"),
    ("import a as patience", "patience"),
    ("match a:\n    case {'b': made}: ...", "made"),
]


@pytest.mark.parametrize(("source", "name"), PLANTED, ids=[name for _source, name in PLANTED])
def test_detects_a_term(source: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path("a.py")
    file.write_text(source)
    (finding,) = findings(file)
    assert finding.partition(": ")[2].startswith(f"{name}: use the field's term (")


@pytest.mark.parametrize(
    "source",
    [
        "import pytest\nfrom hypothesis import given\n@given(1)\ndef f(): ...",
        "stream.tell() + other.gone",
        "f(wanted=1)",
        "'told'",
        "def test_a_sentence_that_is_given(): ...",
        "maiden = untold_story = 1",
    ],
)
def test_accepts_other_names(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path("a.py")
    file.write_text(source)
    assert [*findings(file)] == []


def test_detects_a_term_in_the_name_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path("_hands_off.py")
    file.write_text("")
    assert [*findings(file)] == ["_hands_off.py:1: _hands_off.py: use the field's term (paused), not 'hands off'"]


def test_names_have_their_lines() -> None:
    assert sorted(names("a = 1\n\ndef b(c):\n    d.e = c\n")) == [(1, "a"), (3, "b"), (3, "c"), (4, "e")]


def test_words_of_identifiers() -> None:
    assert {words(name) for name in ("_dry_run", "DryRun", "DRY_RUN")} == {"dry run"}
    assert words("readURLAgain") == "read url again"


def test_every_term_is_in_the_form_of_words() -> None:
    assert [term for term in TERMS if words(term) != term] == []
