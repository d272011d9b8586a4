# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What can go wrong with Druid's HTTP API: one hierarchy, caught once, at the edge. ``str(error)`` is the message."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

LONGEST_VALUE = 200
HIDDEN = object()


class DruidError(Exception):
    """Something that a person has to be told. The text names the object, what happened and what to do."""


class BadInput(DruidError):
    """An option, or a field of one, cannot be used. A secret is named by ``value=HIDDEN``."""

    def __init__(self, name: str, value: Any, remedy: str) -> None:
        self.name, self.remedy = name, remedy
        shown = "" if value is HIDDEN else f" ({bounded(repr(value), LONGEST_VALUE)})"
        super().__init__(f"{name}{shown}: {remedy}")


class Incomplete(DruidError):
    """Some of the work could not be done. ``result``: what was, in the form of the module's result."""

    def __init__(self, message: str, result: dict[str, Any]) -> None:
        super().__init__(message)
        self.result = result


class Unsettled(DruidError):
    """A write failed, and what is there now is not what was there before. The text tells what is."""


class NotConnected(DruidError):
    """A supervisor has no connection to its stream: it would not do now what it is asked for, and may never do it."""


class Unreachable(DruidError):
    """No answer, or not all of one, came.

    ``sent``: the request, or a part of it, has left, and may have taken effect.
    ``is_passing``: whoever waits may get an answer (refused, reset), unlike with a wrong name or certificate.
    """

    def __init__(
        self, method: str, url: str, reason: str, hint: str = "", *, sent: bool = False, is_passing: bool = False
    ) -> None:
        self.method, self.url, self.reason, self.hint = method, url, reason, hint
        self.sent, self.is_passing = sent, is_passing
        doubt = "It may have taken effect: look before it is sent again" if sent and method != "GET" else ""
        super().__init__(sentences(f"{method} {url} got no answer: {reason}", hint, doubt))


class ApiError(DruidError):
    """The server answered with something that is no success. ``words`` are Druid's own, bounded."""

    def __init__(self, status: int, words: str, method: str, url: str, hint: str = "") -> None:
        self.status, self.words, self.method, self.url = status, words, method, url
        said = f": {words}" if words else ""
        super().__init__(sentences(f"{method} {url} was answered with {status} {_phrase(status)}{said}", hint))


class Unauthorized(ApiError):
    """401: nobody logged in, or not with these credentials."""


class Forbidden(ApiError):
    """403: the user lacks a permission."""


class NotFound(ApiError):
    """404: Druid knows the path, but not the thing."""


class UnknownPath(ApiError):
    """404: the server does not serve this part of Druid's API at all, so that nothing is known of the thing."""


class Conflict(ApiError):
    """409: the thing is there already, or in another state."""


class Redirected(ApiError):
    """3xx to where no request, with its credentials and its body, may go."""


class BadAnswer(ApiError):
    """A success by its status, but not an answer of Druid: no JSON, or more than anybody should send."""


class ServerError(ApiError):
    """5xx. What was asked may have been done, or half done: read again. ``retry_after``: seconds, if Druid said so."""

    def __init__(
        self, status: int, words: str, method: str, url: str, hint: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(status, words, method, url, hint)
        self.retry_after = retry_after

    @property
    def is_passing(self) -> bool:
        """True when the server, or a proxy before it, says that it is not ready now."""
        return self.status in PASSING


PASSING = frozenset({502, 503, 504})
CLASSES: dict[int, type[ApiError]] = {401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict}


def sentences(*parts: str) -> str:
    """Return the parts that are not empty, each ended by a full stop."""
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts if part)


def bounded(text: str, length: int) -> str:
    """Return the text, cut to so many characters."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "(no standard status)"
