# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What can go wrong with Druid's HTTP API: errors by what has happened, and by the status."""

from __future__ import annotations

from http import HTTPStatus

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, sentences


class Unreachable(DruidError):
    """No answer, or not all of one, came.

    ``sent``: the request, or a part of it, has left, and may have taken effect.
    ``is_transient``: whoever waits may get an answer (refused, reset), unlike with a wrong name or certificate.
    """

    def __init__(
        self, method: str, url: str, reason: str, hint: str = "", *, sent: bool = False, is_transient: bool = False
    ) -> None:
        self.method, self.url, self.reason, self.hint = method, url, reason, hint
        self.sent, self.is_transient = sent, is_transient
        caution = "It may have taken effect: look before it is sent again" if sent and method != "GET" else ""
        super().__init__(sentences(f"{method} {url} got no answer: {reason}", hint, caution))


class ApiError(DruidError):
    """The server answered with something that is no success. ``message`` are Druid's own, bounded."""

    def __init__(self, status: int, message: str, method: str, url: str, hint: str = "") -> None:
        self.status, self.message, self.method, self.url = status, message, method, url
        detail = f": {message}" if message else ""
        super().__init__(sentences(f"{method} {url} was answered with {status} {_phrase(status)}{detail}", hint))


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


class InvalidResponse(ApiError):
    """A success by its status, but not an answer of Druid: no JSON, or more than anybody should send."""


class ServerError(ApiError):
    """5xx. What was asked may have been done, or half done: read again. ``retry_after``: seconds, if Druid said so."""

    def __init__(
        self, status: int, message: str, method: str, url: str, hint: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(status, message, method, url, hint)
        self.retry_after = retry_after

    @property
    def is_transient(self) -> bool:
        """True when the server, or a proxy before it, says that it is not ready now."""
        return self.status in TRANSIENT_STATUSES


TRANSIENT_STATUSES = frozenset({502, 503, 504})
ERROR_BY_STATUS: dict[int, type[ApiError]] = {401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict}


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "(no standard status)"
