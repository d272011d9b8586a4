# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an answer means: a document, or an error with Druid's own words in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils import _address, _errors, _hints
from ansible_collections.druidops.druid.plugins.module_utils._address import path
from ansible_collections.druidops.druid.plugins.module_utils._connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._errors import (
    ApiError,
    BadAnswer,
    ServerError,
    UnknownPath,
)
from ansible_collections.druidops.druid.plugins.module_utils._patience import retry_after
from ansible_collections.druidops.druid.plugins.module_utils._redirect import Redirects
from ansible_collections.druidops.druid.plugins.module_utils._request import SERVICES, Request
from ansible_collections.druidops.druid.plugins.module_utils._spec_masking import hidden
from ansible_collections.druidops.druid.plugins.module_utils._transport import Answer
from ansible_collections.druidops.druid.plugins.module_utils._words import Words, words_of

_FAILED = "Look at Druid's log, and read again what is there now before you decide on more"


class Reader:
    """Reads answers. To tell a thing that is not there from a server that does not know of such, it asks once more."""

    def __init__(self, connection: Connection, redirects: Redirects) -> None:
        self._connection = connection
        self._redirects = redirects

    def result(self, server: str, request: Request, answer: Answer) -> Any:
        """Return the JSON document, None when the answer is empty; ApiError when it is no success."""
        if answer.status >= 300 or answer.status < 200:
            raise self.error(server, request, answer)
        if not answer.body.strip():
            return None
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            words = self._words(request, answer).text
            hint = "That is no JSON, and so no answer of Druid. Check the option url, and what stands before Druid"
            raise BadAnswer(answer.status, words, answer.method, _address.shown(answer.url), hint) from None

    def error(self, server: str, request: Request, answer: Answer) -> ApiError:
        """Return what is to be raised for an answer that is no success."""
        if answer.status >= 500:
            return self.server_error(request, answer)
        words = self._words(request, answer)
        said = (answer.status, words.text, answer.method, _address.shown(answer.url))
        service = request.service
        if answer.status == 404 and service and not words.is_druids and not self._serves(server, service):
            return UnknownPath(*said, _hints.of_unknown_path(SERVICES[service]))
        return _errors.CLASSES.get(answer.status, ApiError)(*said, self._hint(request, answer.status))

    def server_error(self, request: Request, answer: Answer) -> ServerError:
        """Return what is to be raised for a 5xx."""
        words, asked = self._words(request, answer).text, retry_after(answer.headers.get("Retry-After"))
        return ServerError(answer.status, words, answer.method, _address.shown(answer.url), _FAILED, asked)

    def _words(self, request: Request, answer: Answer) -> Words:
        known = [self._connection.secrets, request.document]
        return words_of(answer.body, lambda text: str(hidden(text, known)))

    def _hint(self, request: Request, status: int) -> str:
        if status == 401:
            return _hints.of_unauthorized(self._connection)
        if status == 403:
            return _hints.of_forbidden(self._connection, request.method, request.path)
        return ""

    def _serves(self, server: str, service: str) -> bool:
        """Return whether the server, or who it asks, is a Coordinator or Overlord: others do not know ``/isLeader``."""
        probe = Request("GET", path("druid", service, "v1", "isLeader"))
        body = self._redirects.follow(probe, server + probe.path).body
        try:
            document = json.loads(body)
        except ValueError:
            return False
        return isinstance(document, Mapping) and "leader" in document
