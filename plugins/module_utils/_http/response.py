# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turns a response into a document, or into an error with Druid's own message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http import address, error_message
from ansible_collections.druidops.druid.plugins.module_utils._http.address import path
from ansible_collections.druidops.druid.plugins.module_utils._http.connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._http.error_message import ErrorText, parse_error_text
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

_FAILED = "Check Druid's log, and read the current state before you retry"


class ResponseParser:
    """Parses responses. After a 404 it sends a probe: either the resource is missing, or the server lacks the API."""

    def __init__(self, connection: Connection, redirects: Redirects) -> None:
        self._connection = connection
        self._redirects = redirects

    def result(self, server: str, request: HttpRequest, response: Response) -> Any:
        """Return the JSON document, None if the response is empty. ApiError if the response is an error."""
        if response.status >= 300 or response.status < 200:
            raise self.error(server, request, response)
        if not response.body.strip():
            return None
        try:
            return json.loads(response.body)
        except (ValueError, RecursionError):
            error_text = self._error_text(request, response).text
            hint = "The response is not JSON, so it is not from Druid. Check the option url and any proxy before Druid"
            raise InvalidResponse(
                response.status, error_text, response.method, address.redacted(response.url), hint
            ) from None

    def error(self, server: str, request: HttpRequest, response: Response) -> ApiError:
        """Return the exception for an error response."""
        if response.status >= 500:
            return self.server_error(request, response)
        error_text = self._error_text(request, response)
        details = (response.status, error_text.text, response.method, address.redacted(response.url))
        service = request.service
        if response.status == 404 and service and not error_text.is_from_druid and not self._serves(server, service):
            return UnknownPath(*details, error_message.hint_of_unknown_path(SERVICES[service]))
        if hint := error_message.hint_of_missing_sql(request.path, response.status):
            return UnknownPath(*details, hint)
        return ERROR_BY_STATUS.get(response.status, ApiError)(*details, self._hint(request, response))

    def server_error(self, request: HttpRequest, response: Response) -> ServerError:
        """Return the exception for a 5xx response."""
        error_text, delay = self._error_text(request, response).text, retry_after(response.headers.get("Retry-After"))
        return ServerError(response.status, error_text, response.method, address.redacted(response.url), _FAILED, delay)

    def _error_text(self, request: HttpRequest, response: Response) -> ErrorText:
        known = [self._connection.secrets, request.document]
        return parse_error_text(response.body, lambda text: str(hidden(text, known)))

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
            document = json.loads(body)
        except ValueError:
            return False
        return isinstance(document, Mapping) and "leader" in document
