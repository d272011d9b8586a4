# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kind of an SQL statement. Pure. In case of doubt, Druid decides whether it is valid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import HIDDEN, InvalidInput

_INGESTION = (("INSERT", "INTO"), ("REPLACE", "INTO"))
# Statements that ingest nothing. Another first word is Druid's to reject, or is from a newer Druid.
_OTHERS = frozenset(
    {
        *("SELECT", "WITH", "VALUES", "TABLE", "EXPLAIN", "DESCRIBE", "SHOW"),
        *("UPDATE", "DELETE", "UPSERT", "MERGE", "TRUNCATE", "CREATE", "ALTER", "DROP"),
    }
)
# The lexical structure of Calcite's parser. What follows an unterminated comment or string is no word either.
_SKIPPED = (
    r"\s+",
    r"(?:--|//)[^\n\r]*",
    r"/\*.*?(?:\*/|\Z)",
    r"'[^']*(?:'|\Z)",
    r'"[^"]*(?:"|\Z)',
)
_TOKEN = re.compile(rf"(?:{'|'.join(_SKIPPED)})|(?P<word>\w+)|(?P<end>;)|.", re.DOTALL)


def require_ingestion(query: str) -> None:
    """InvalidInput if the statement surely is not an INSERT or a REPLACE. The message names the kind of statement."""
    words = list(_statement_words(query))
    first = words[0] if words else None
    if first is None:
        _reject("it contains no statement")
    # a newer Druid may accept INSERT after WITH
    elif first in _OTHERS and not (first == "WITH" and any(pair in _INGESTION for pair in pairwise(words))):
        _reject(f"it is an {first}" if first[0] in "AEIOU" else f"it is a {first}")


def _statement_words(query: str) -> Iterator[str]:
    """Yield the keywords and names in the first statement that is not SET, in upper case."""
    words: list[str] = []
    for token in _TOKEN.finditer(query):
        if token["word"]:
            words.append(token["word"].upper())
        elif token["end"] and words[:1] in ([], ["SET"]):
            words = []
    # without a semicolon, SET is not followed by a statement
    yield from words if words[:1] != ["SET"] else ()


def _reject(problem: str) -> None:
    remedy = f"{problem}, but only INSERT and REPLACE ingest. Set an INSERT or a REPLACE statement"
    raise InvalidInput("query", HIDDEN, remedy)
