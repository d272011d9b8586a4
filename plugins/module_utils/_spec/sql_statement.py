# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kind of an SQL statement. Pure. In case of doubt, Druid decides whether it is valid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NoReturn

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
    words = _statement_words(query)
    first = words[0] if words else None
    if first is None:
        _reject("it contains no statement")
    # a newer Druid may accept INSERT after WITH
    elif first in _OTHERS and not (first == "WITH" and any(pair in _INGESTION for pair in pairwise(words))):
        _reject(f"it is an {first}" if first[0] in "AEIOU" else f"it is a {first}")


def _statement_words(query: str) -> list[str]:
    """Return the keywords and names in the first statement that is not SET, in upper case."""
    statements = [words for words in _statements(query) if words]
    return next((words for words in statements if words[0] != "SET"), [])


def _reject(problem: str) -> None:
    remedy = f"{problem}, but only INSERT and REPLACE ingest. Set an INSERT or a REPLACE statement"
    raise InvalidInput("query", HIDDEN, remedy)


_QUERIES = ("SELECT", "WITH", "EXPLAIN")


def require_query(query: str) -> str:
    """Return the first word of a statement that only reads: SELECT, WITH or EXPLAIN. InvalidInput for any other.

    This is a remedy in time. That nothing is changed is ensured by Druid: the address of queries accepts no ingestion.
    """
    statements = [words for words in _statements(query) if words]
    if not statements:
        _reject_query("it contains no statement. Set a SELECT, WITH or EXPLAIN statement")
    words = statements[0]
    if words[0] == "SET":
        _reject_query("it contains SET. Use the option context instead")
    if len(statements) > 1:
        _reject_query("it contains several statements. Use a task for each")
    if words[0] in ("INSERT", "REPLACE") or any(pair in _INGESTION for pair in pairwise(words)):
        _reject_query("it ingests. Use the module sql_ingest")
    if words[0] not in _QUERIES:
        _reject_query(f"it begins with {words[0][:20]}, but only SELECT, WITH and EXPLAIN statements are queries")
    return words[0]


def _statements(query: str) -> Iterator[list[str]]:
    """Yield the keywords and names of each statement, in upper case."""
    words: list[str] = []
    for token in _TOKEN.finditer(query):
        if token["word"]:
            words.append(token["word"].upper())
        elif token["end"]:
            yield words
            words = []
    yield words


def _reject_query(problem: str) -> NoReturn:
    raise InvalidInput("query", HIDDEN, problem)
