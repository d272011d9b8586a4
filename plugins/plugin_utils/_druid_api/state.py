# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Druid answered to the questions of a decision, as a value. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")

# Why there is no answer. The cluster has no router, or how to connect to it is not specified.
NO_ROUTER = "no router"
# No pod of the router is ready.
NOT_READY = "router not ready"
# Druid did not respond, or responded that it cannot answer now.
UNREACHABLE = "unreachable"
# It cannot be reached from where the reconcile runs: its name does not resolve, or its certificate is not trusted.
NOT_CONNECTABLE = "not connectable"
# The user of spec.auth may not ask that, or there is none.
UNAUTHORIZED = "not authorized"
# This Druid has no such API: it is too old, or its Router does not forward to Coordinators and Overlords.
UNSUPPORTED = "not supported"
# The answer cannot be read.
INVALID = "invalid answer"
# Those that last until the resource, one of its Secrets or Druid is changed.
LASTING = frozenset({NO_ROUTER, NOT_CONNECTABLE, UNAUTHORIZED, UNSUPPORTED, INVALID})


@dataclass(frozen=True)
class Unavailable:
    """Why there is no answer: one of the causes above, and a message for the user, which has no secrets."""

    cause: str
    message: str


@dataclass(frozen=True)
class Question(Generic[T]):
    """A GET of a path, or, with `sql`, a query that a Broker answers.

    `read` returns the answer from the JSON document; it raises a LookupError, TypeError or ValueError for an invalid
    one. Its argument is None if Druid responded that it has no such object.
    """

    name: str
    path: str
    read: Callable[[Any], T] = field(compare=False)
    params: tuple[tuple[str, str], ...] = ()
    sql: str = ""


@dataclass(frozen=True)
class DruidState:
    """The answer to each question that was asked, or why there is none."""

    answers: Mapping[Question[Any], Any] = field(default_factory=dict)

    def answer(self, question: Question[T]) -> T | Unavailable:
        """Return the answer to a question that was asked; KeyError for any other."""
        return cast("T | Unavailable", self.answers[question])

    def missing_answers(self, questions: Iterable[Question[Any]]) -> tuple[Question[Any], ...]:
        """Return those of the questions that were not asked."""
        return tuple(question for question in questions if question not in self.answers)

    def with_answers(self, answers: Mapping[Question[Any], Any]) -> DruidState:
        """Return the same with more answers."""
        return DruidState({**self.answers, **answers})
