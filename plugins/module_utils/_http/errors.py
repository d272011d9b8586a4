# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The errors of Druid's HTTP API."""

from __future__ import annotations

from http import HTTPStatus

from ansible_collections.druidops.druid.plugins.module_utils._http.request import is_read
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, sentences


class Unreachable(DruidError):
    """There was no response, or only a part of one.

    ``sent``: at least part of the request was sent, so it may have taken effect.
    ``is_transient``: a retry may succeed (connection refused or reset), unlike a wrong host name or certificate.
    ``is_timeout``: no connection or no response in time.
    """

    def __init__(
        self,
        method: str,
        url: str,
        reason: str,
        hint: str = "",
        *,
        sent: bool = False,
        is_transient: bool = False,
        is_timeout: bool = False,
    ) -> None:
        self.method, self.url, self.reason, self.hint = method, url, reason, hint
        self.sent, self.is_transient, self.is_timeout = sent, is_transient, is_timeout
        caution = "" if is_read(method, url) or not sent else "It may have taken effect. Check before you send it again"
        super().__init__(sentences(f"{method} {url} got no response: {reason}", hint, caution))


class ApiError(DruidError):
    """The server returned an error. ``message``: Druid's own message, truncated."""

    def __init__(self, status: int, message: str, method: str, url: str, *hints: str) -> None:
        self.status, self.message, self.method, self.url = status, message, method, url
        detail = f": {message}" if message else ""
        super().__init__(sentences(f"{method} {url} returned {status} {_phrase(status)}{detail}", *hints))


class Unauthorized(ApiError):
    """401: credentials are missing or invalid."""


class Forbidden(ApiError):
    """403: the user lacks a permission."""


class NotFound(ApiError):
    """404 in the form of Druid's: it serves the path, but the resource does not exist."""


class UnknownPath(ApiError):
    """404 or 405: the server does not serve this part of Druid's API, so it is unknown whether the resource exists."""


class Conflict(ApiError):
    """409: the resource exists already, or is in another state."""


class Redirected(ApiError):
    """3xx to a server that must not receive the credentials and the body of the request."""


class InvalidResponse(ApiError):
    """The response is not from Druid: it is not in the form of a response of Druid to this request, or is too large."""


class ResponseTooLarge(InvalidResponse):
    """The response is larger than the limit (``Connection.max_response_bytes``)."""


class ServerError(ApiError):
    """5xx: the request may have taken effect, entirely or partly. ``retry_after``: seconds, if Druid set the header."""

    def __init__(
        self, status: int, message: str, method: str, url: str, hint: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(status, message, method, url, hint)
        self.retry_after = retry_after

    @property
    def is_transient(self) -> bool:
        """True if the status means that the server, or a proxy in front of it, is temporarily unavailable."""
        return self.status in TRANSIENT_STATUSES


TRANSIENT_STATUSES = frozenset({502, 503, 504})
ERROR_BY_STATUS: dict[int, type[ApiError]] = {401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict}


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "(non-standard status)"
