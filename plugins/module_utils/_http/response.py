# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turns a response into a document, or into an error with Druid's own message."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http import address, error_message, shapes
from ansible_collections.druidops.druid.plugins.module_utils._http.address import path
from ansible_collections.druidops.druid.plugins.module_utils._http.connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._http.error_message import (
    ErrorText,
    Source,
    parse_error_text,
)
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    ERROR_BY_STATUS,
    ApiError,
    InvalidResponse,
    ServerError,
    UnknownPath,
)
from ansible_collections.druidops.druid.plugins.module_utils._http.redirect import Redirects
from ansible_collections.druidops.druid.plugins.module_utils._http.rejected_field import hint_of_rejected
from ansible_collections.druidops.druid.plugins.module_utils._http.request import SERVICES, HttpRequest
from ansible_collections.druidops.druid.plugins.module_utils._http.retry import retry_after
from ansible_collections.druidops.druid.plugins.module_utils._http.transport import Response
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import hidden

_CHECK_URL = "Check the option url and any proxy before Druid"
_REREAD = "Read the current state before you retry"
_FAILED = "Check Druid's log, and read the current state before you retry"


class ResponseParser:
    """Parses responses, and rejects those that are not Druid's.

    Before it believes a 404 or an empty document, which any server returns, it sends a probe: the resource is missing,
    or the server lacks the API, or is not Druid.
    """

    def __init__(self, connection: Connection, redirects: Redirects) -> None:
        self._connection = connection
        self._redirects = redirects
        # servers that have returned a document of Druid's
        self._known: set[str] = set()

    def result(self, server: str, request: HttpRequest, response: Response) -> Any:
        """Return the JSON document, None if the response is empty. ApiError if it is an error, or is not Druid's."""
        if response.status >= 300 or response.status < 200:
            raise self.error(server, request, response)
        where = request.path + request.query
        try:
            body = response.body.strip()
            if body and _LEADER.fullmatch(request.path):
                body = _quoted(body)
            document = shapes.parse(body) if body else None
        except ValueError:
            raise _invalid(response, _not_druids(response), _REREAD if request.method != "GET" else "") from None
        is_druids = shapes.fits(request.method, where, document)
        if is_druids and shapes.is_distinctive(request.method, where, document):
            self._known.add(server)
        elif is_druids and request.method == "GET" and server not in self._known and request.service:
            is_druids = self._serves(server, request.service)
        if not is_druids:
            raise _invalid(response, _not_druids(response), _REREAD if request.method != "GET" else "")
        return document

    def error(self, server: str, request: HttpRequest, response: Response) -> ApiError:
        """Return the exception for an error response."""
        if response.status >= 500:
            return self.server_error(request, response)
        found, service = self._error_text(request, response), request.service
        details = (response.status, found.text, response.method, address.redacted(response.url))
        hint = self._hint(request, response)
        if response.status == 404 and service and not error_message.names_missing_object(found.text):
            if not self._serves(server, service):
                unknown = UnknownPath(*details, error_message.hint_of_unknown_path(SERVICES[service]))
                return unknown if found.source is Source.WEB_SERVER else self._not_from_druid(request, response)
        elif found.source is Source.OTHER:
            return self._not_from_druid(request, response, hint)
        elif missing := error_message.hint_of_missing_sql(request.path, response.status):
            return UnknownPath(*details, missing)
        return ERROR_BY_STATUS.get(response.status, ApiError)(*details, hint)

    def server_error(self, request: HttpRequest, response: Response) -> ServerError:
        """Return the exception for a 5xx response."""
        found, delay = self._error_text(request, response), retry_after(response.headers.get("Retry-After"))
        text = self._not_druids(request, response) if found.source is Source.OTHER else found.text
        return ServerError(response.status, text, response.method, address.redacted(response.url), _FAILED, delay)

    def _error_text(self, request: HttpRequest, response: Response) -> ErrorText:
        return parse_error_text(response.body, partial(self._masked, request))

    def _masked(self, request: HttpRequest, text: str) -> str:
        return str(hidden(text, [self._connection.secrets, request.document]))

    def _not_from_druid(self, request: HttpRequest, response: Response, hint: str = "") -> InvalidResponse:
        return _invalid(response, self._not_druids(request, response), hint)

    def _not_druids(self, request: HttpRequest, response: Response) -> str:
        """Return what an error of an unknown form is, and its text if the connection quotes it."""
        described = _not_druids(response)
        if not self._connection.quotes_errors:
            return described
        text = error_message.quoted(response.body, partial(self._masked, request))
        return f"{described}: {text}" if text else described

    def _hint(self, request: HttpRequest, response: Response) -> str:
        if response.status == 400:
            # the whole message: the shown one is truncated, and secrets in it are masked
            return hint_of_rejected(request.document, error_message.whole_text(response.body))
        if response.status == 401:
            return error_message.hint_of_unauthorized(self._connection)
        if response.status == 403:
            return error_message.hint_of_forbidden(self._connection, request)
        return ""

    def _serves(self, server: str, service: str) -> bool:
        """Return whether the server serves this service's API. Only Coordinator and Overlord serve ``/isLeader``."""
        probe = HttpRequest("GET", path("druid", service, "v1", "isLeader"))
        body = self._redirects.follow(probe, server + probe.path).body
        try:
            return shapes.fits(probe.method, probe.path, shapes.parse(body))
        except ValueError:
            return False


# The only response that is read and is no JSON, but the plain address; empty if there is no leader.
_LEADER = re.compile(r"/druid/(?:coordinator|indexer)/v1/leader")


def _quoted(address: bytes) -> bytes:
    return b'"' + address.strip(b'"') + b'"'


def _not_druids(response: Response) -> str:
    return f"{shapes.description(response.body)}, which is in no form of Druid's"


def _invalid(response: Response, text: str, hint: str = "") -> InvalidResponse:
    return InvalidResponse(response.status, text, response.method, address.redacted(response.url), _CHECK_URL, hint)
