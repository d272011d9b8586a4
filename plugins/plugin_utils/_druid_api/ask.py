# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ask Druid the questions of a decision. The only requests are GETs and SQL queries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    Forbidden,
    InvalidResponse,
    NotFound,
    Redirected,
    ServerError,
    Unauthorized,
    UnknownPath,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import error_findings
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.questions import (
    INVALID,
    NOT_CONNECTABLE,
    UNAUTHORIZED,
    UNREACHABLE,
    UNSUPPORTED,
    Question,
    Unavailable,
)

_CAUSES: tuple[tuple[tuple[type[DruidError], ...], str], ...] = (
    ((Unauthorized, Forbidden), UNAUTHORIZED),
    ((UnknownPath, Redirected), UNSUPPORTED),
    ((Unreachable, ServerError, InvalidResponse), UNREACHABLE),
)
# A column that an older Druid does not have.
_UNKNOWN_COLUMN = "not found in any table"


def ask(client: DruidClient, questions: Iterable[Question[Any]]) -> dict[Question[Any], Any]:
    """Return the answer to each question, or why there is none. A Druid that does not respond is asked once only."""
    answers: dict[Question[Any], Any] = {}
    silence: Unavailable | None = None
    for question in questions:
        if silence is None:
            answers[question], is_silent = _answer(client, question)
            silence = answers[question] if is_silent else None
        else:
            answers[question] = silence
    return answers


def _answer(client: DruidClient, question: Question[Any]) -> tuple[Any, bool]:
    """Return the answer, or why there is none, and whether Druid did not respond at all."""
    try:
        document = _request(client, question)
    except DruidError as error:
        return _unavailable(question, error), isinstance(error, Unreachable)
    try:
        return question.read(document), False
    except (LookupError, TypeError, ValueError, AttributeError):
        cause = UNSUPPORTED if document is None else INVALID
        return Unavailable(cause, f"Druid's answer about its {question.name} cannot be read ({question.path})."), False


def _request(client: DruidClient, question: Question[Any]) -> Any:
    try:
        if question.sql:
            return client.post(question.path, {"query": question.sql, "resultFormat": "object"}, idempotent=True)
        return client.get(question.path, dict(question.params))
    except NotFound:
        return None


def _unavailable(question: Question[Any], error: DruidError) -> Unavailable:
    if isinstance(error, Unreachable) and not (error.is_transient or error.is_timeout):
        return Unavailable(NOT_CONNECTABLE, error_findings.error_finding(error).message)
    cause = next((cause for kinds, cause in _CAUSES if isinstance(error, kinds)), INVALID)
    if question.sql and _UNKNOWN_COLUMN in str(error):
        cause = UNSUPPORTED
    return Unavailable(cause, error_findings.error_finding(error).message)
