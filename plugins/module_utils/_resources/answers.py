# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Asks Druid questions: the answers, or why there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

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
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    INVALID,
    NOT_CONNECTABLE,
    UNAUTHORIZED,
    UNREACHABLE,
    UNSUPPORTED,
    Question,
    Unavailable,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError

T = TypeVar("T")

_CAUSES: tuple[tuple[tuple[type[DruidError], ...], str], ...] = (
    ((Unauthorized, Forbidden), UNAUTHORIZED),
    ((UnknownPath, Redirected), UNSUPPORTED),
    ((Unreachable, ServerError, InvalidResponse), UNREACHABLE),
)
# A column that an older Druid does not have.
_UNKNOWN_COLUMN = "not found in any table"


def answer(client: DruidClient, question: Question[T]) -> T:
    """Return the answer to a question. DruidError if there is none."""
    document = _request(client, question)
    try:
        return question.read(document)
    except _UNREADABLE:
        raise DruidError(_unreadable(question)) from None


def answers(
    client: DruidClient, questions: Iterable[Question[Any]], message: Callable[[DruidError], str] = str
) -> dict[Question[Any], Any]:
    """Return the answer to each question, or why there is none. A Druid that does not respond is asked once only.

    ``message``: returns the message of an error.
    """
    found: dict[Question[Any], Any] = {}
    silence: Unavailable | None = None
    for question in questions:
        if silence is None:
            found[question], is_silent = _answer(client, question, message)
            silence = found[question] if is_silent else None
        else:
            found[question] = silence
    return found


def _answer(client: DruidClient, question: Question[Any], message: Callable[[DruidError], str]) -> tuple[Any, bool]:
    """Return the answer, or why there is none, and whether Druid did not respond at all."""
    try:
        document = _request(client, question)
    except DruidError as error:
        return _unavailable(question, error, message(error)), isinstance(error, Unreachable)
    try:
        return question.read(document), False
    except _UNREADABLE:
        return Unavailable(UNSUPPORTED if document is None else INVALID, _unreadable(question)), False


# What a question raises for an answer that it cannot read.
_UNREADABLE = (LookupError, TypeError, ValueError, AttributeError)


def _unreadable(question: Question[Any]) -> str:
    return f"Druid's answer about its {question.name} cannot be read ({question.path})."


def _request(client: DruidClient, question: Question[Any]) -> Any:
    try:
        if question.sql:
            return client.post(question.path, {"query": question.sql, "resultFormat": "object"}, idempotent=True)
        return client.get(question.path, dict(question.params))
    except NotFound:
        return None


def _unavailable(question: Question[Any], error: DruidError, message: str) -> Unavailable:
    if isinstance(error, Unreachable) and not (error.is_transient or error.is_timeout):
        return Unavailable(NOT_CONNECTABLE, message)
    cause = next((cause for kinds, cause in _CAUSES if isinstance(error, kinds)), INVALID)
    if question.sql and _UNKNOWN_COLUMN in str(error):
        cause = UNSUPPORTED
    return Unavailable(cause, message)
