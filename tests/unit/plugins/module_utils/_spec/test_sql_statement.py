# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which statements are refused: to ingest, those that surely ingest nothing; as a query, all that may do more."""

from __future__ import annotations

import re

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.sql_statement import require_ingestion, require_query
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from hypothesis import given
from hypothesis import strategies as st

SELECT = "it is a SELECT"
REFUSED: list[tuple[str, str]] = [
    ("SELECT 1", SELECT),
    ("  \n\tselect 1", SELECT),
    ("-- INSERT INTO a\nSELECT 1", SELECT),
    ("// INSERT INTO a\r\nSELECT 1", SELECT),
    ("/* REPLACE INTO a ; */SELECT 1", SELECT),
    ("(SELECT 1) UNION ALL (SELECT 2)", SELECT),
    ("SELECT REPLACE(a, 'x', 'INSERT INTO b') FROM c", SELECT),
    ("SET sqlTimeZone = 'INSERT;'; SET x = 1; SELECT 1", SELECT),
    ("WITH a AS (SELECT REPLACE(x, 'y', '') FROM c) SELECT * FROM a", "it is a WITH"),
    ('WITH "INSERT INTO" AS (SELECT 1) SELECT * FROM a', "it is a WITH"),
    ("VALUES (1)", "it is a VALUES"),
    ("explain plan for insert into a select 1 partitioned by all", "it is an EXPLAIN"),
    ("DELETE FROM a", "it is a DELETE"),
    ("", "it contains no statement"),
    (" ;; ", "it contains no statement"),
    ("-- INSERT INTO a", "it contains no statement"),
    ("/* INSERT INTO a", "it contains no statement"),
    ("SET x = 1;", "it contains no statement"),
    ("SET x = 1", "it contains no statement"),
]
ACCEPTED = [
    "INSERT INTO a SELECT 1 PARTITIONED BY ALL",
    "replace into a overwrite all select 1 partitioned by all",
    "REPLACE/**/INTO a OVERWRITE ALL SELECT 1 PARTITIONED BY ALL",
    "-- SELECT\n/* SELECT\n; */ // SELECT\n INSERT INTO a SELECT 1 PARTITIONED BY ALL",
    "SET sqlTimeZone = 'a''b; SELECT 1'; SET x = 1;\nINSERT INTO a SELECT 1 PARTITIONED BY ALL",
    "INSERT INTO a WITH b AS (SELECT 1) SELECT * FROM b PARTITIONED BY ALL;",
    "INSERT INTO EXTERN(local(exportPath => '/x')) AS CSV SELECT * FROM a",
    # not valid in Druid 27 to 33, but that is for Druid to decide
    "WITH a AS (SELECT 1) INSERT INTO b SELECT * FROM a PARTITIONED BY ALL",
    "COPY INTO a FROM b",
    "LET x = 1",
]


@pytest.mark.parametrize(("query", "problem"), REFUSED)
def test_statement_that_ingests_nothing_is_refused(query: str, problem: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        require_ingestion(query)

    remedy = "but only INSERT and REPLACE ingest. Set an INSERT or a REPLACE statement"
    assert str(refusal.value) == f"query: {problem}, {remedy}"


@pytest.mark.parametrize("query", ACCEPTED)
def test_other_statements_are_left_to_druid(query: str) -> None:
    require_ingestion(query)


@given(st.text(alphabet="-/*'\"; \n\tSETx=1"), st.sampled_from(["INSERT INTO a SELECT 1", "replace into a"]))
def test_comments_strings_and_settings_before_a_statement(prefix: str, statement: str) -> None:
    """Whatever precedes it in a comment, a statement that ingests is accepted."""
    require_ingestion("/*" + prefix.replace("*/", "") + "*/" + statement)
    require_ingestion("--" + prefix.replace("\n", "") + "\n" + statement)
    require_ingestion("SET x = '" + prefix.replace("'", "''") + "';" + statement)


NO_QUERIES: list[tuple[str, str]] = [
    ("INSERT INTO a SELECT 1 PARTITIONED BY ALL", "it ingests. Use the module sql_ingest"),
    ("/* SELECT */ replace into a overwrite all select 1", "it ingests."),
    ("EXPLAIN PLAN FOR INSERT INTO a SELECT 1 PARTITIONED BY ALL", "it ingests."),
    ("WITH b AS (SELECT 1) --\nINSERT--\nINTO a SELECT * FROM b", "it ingests."),
    ("SELECT 1; SELECT 2", "it contains several statements."),
    ("SELECT 1;--\nDROP TABLE a", "it contains several statements."),
    ("SET timeout = 1; SELECT 1", "it contains SET. Use the option context instead"),
    ("DELETE FROM a", "it begins with DELETE, but only SELECT"),
    ("", "it contains no statement."),
    ("-- SELECT 1", "it contains no statement."),
]
QUERIES: list[tuple[str, str]] = [
    ("SELECT 1", "SELECT"),
    ("  -- a\n (select 'x; INSERT INTO a') union all (select 2);", "SELECT"),
    ("SELECT REPLACE(a, 'INTO', '') FROM \"INSERT INTO\" -- ; INSERT INTO a", "SELECT"),
    ("with a as (select 1) select * from a;;", "WITH"),
    ("EXPLAIN PLAN FOR SELECT 1", "EXPLAIN"),
]


@pytest.mark.parametrize(("query", "problem"), NO_QUERIES)
def test_statement_that_may_not_only_read_is_no_query(query: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(f"query: {problem}")):
        require_query(query)


@pytest.mark.parametrize(("query", "word"), QUERIES)
def test_statement_that_only_reads_is_a_query(query: str, word: str) -> None:
    assert require_query(query) == word
