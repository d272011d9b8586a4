# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The message of an error response: that of Druid, Jetty or a proxy, as one short line, and a hint. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum, auto
from html.parser import HTMLParser
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._http import permissions, shapes
from ansible_collections.druidops.druid.plugins.module_utils._http.connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._http.request import SQL, HttpRequest

MAX_TEXT_LENGTH = 600
# Of an error in an unknown form.
MAX_QUOTED_LENGTH = 500


class Source(Enum):
    """Where a response is from: Druid's API, its web server (Jetty) or an empty body, or a server that is not Druid."""

    API = auto()
    WEB_SERVER = auto()
    OTHER = auto()


class ErrorText(NamedTuple):
    """An error message, empty if it is not Druid's: the message of another server is not quoted."""

    text: str
    source: Source


NO_TEXT = ErrorText("", Source.WEB_SERVER)
OF_OTHERS = ErrorText("", Source.OTHER)


def parse_error_text(body: bytes, mask: Callable[[str], str] = str) -> ErrorText:
    """Return Druid's error message in a body. The Content-Type is ignored, because Druid's is not always correct.

    ``mask`` masks secrets. It gets the whole text, since part of a truncated secret would not be recognized.
    """
    parsed = _parse(body.decode("utf-8", "replace").strip())
    return parsed._replace(text=_short(mask(_without_lookup(parsed.text))))


def quoted(body: bytes, mask: Callable[[str], str]) -> str:
    """Return the start of a body that is not in a form of Druid's, as one line without secrets; the text of a page."""
    text = body.decode("utf-8", "replace").strip()
    if _HTML.match(text):
        text = " ".join(each for _element, each in _parsed(text).texts)
    line = " ".join("".join(each if each.isprintable() else " " for each in mask(_without_lookup(text))).split())
    return line if len(line) <= MAX_QUOTED_LENGTH else f"{line[: MAX_QUOTED_LENGTH - 1]}…"


def whole_text(body: bytes) -> str:
    """Return Druid's error message in a body, neither shortened nor masked: for decisions, not for the user."""
    return _parse(body.decode("utf-8", "replace").strip()).text


def names_missing_object(text: str) -> bool:
    """Return whether a message is one that only Druid has, about an object that does not exist."""
    return _TEXTS.match(text) is not None


def _parse(text: str) -> ErrorText:
    if not text:
        return NO_TEXT
    if _HTML.match(text):
        return _of_page(text)
    try:
        document = shapes.parse(text.encode())
    except ValueError:
        return ErrorText(text, Source.API) if _TEXTS.match(text) else OF_OTHERS
    return _of_document(document)


_HTML = re.compile(r"<(?:!doctype\s+html|html|head|body|\?xml)\b", re.IGNORECASE)
# The keys of messages, the most specific first: Access-Check-Result of 403, DruidException, older errors.
_ACCESS = "Access-Check-Result"
# Druid's Access as a string. Before Druid 30 it is the whole message.
_EMPTY_ACCESS = re.compile(r"Allowed:\w+, Message:|, Policy: .*", re.DOTALL)
_KEYS = ("errorMessage", "errorMsg", "error")
# The fields of DruidException, QueryException, SqlTaskStatus and the oldest errors.
_FIELDS = frozenset(
    {*_KEYS, "errorCode", "persona", "category", "context", "errorClass", "host", "taskId", "state"},
)
# The messages of Druid as text: SupervisorResourceFilter, TaskResourceFilter, OverlordResource.
_TEXTS = re.compile(r"Cannot find any (?:supervisor|task) with id: \[|No task reports were found for this task\b")


def _of_document(document: Any) -> ErrorText:
    if not isinstance(document, Mapping):
        return OF_OTHERS
    if {"servlet", "url", "status", "message"} <= document.keys():
        # Jetty's error page as JSON: servlet, message, url, status, cause0 ...
        return _of_jetty(str(document.get("cause0") or ""), str(document["message"]))
    if document.keys() == {_ACCESS}:
        return ErrorText(_EMPTY_ACCESS.sub("", str(document[_ACCESS] or "")), Source.API)
    if document.keys() <= _FIELDS:
        found = next((value for value in map(document.get, _KEYS) if value), None)
        if isinstance(found, str):
            return ErrorText(found, Source.API)
        return _of_document(found)
    return OF_OTHERS


def _of_jetty(cause: str, message: str) -> ErrorText:
    return ErrorText(cause or message, Source.WEB_SERVER)


def _of_page(text: str) -> ErrorText:
    page = _parsed(text)
    rows = page.rows
    if rows.get("MESSAGE") or rows.get("CAUSED BY"):
        return _of_jetty(rows.get("CAUSED BY", ""), rows.get("MESSAGE", ""))
    if page.first("h2").startswith("HTTP ERROR"):
        return _of_jetty("", page.first("pre") or page.first("title"))
    return OF_OTHERS


def _parsed(text: str) -> _Page:
    page = _Page()
    page.feed(text)
    page.close()
    return page


class _Page(HTMLParser):
    """The texts of a page by element, and the rows of Jetty's table (``<th>MESSAGE:</th><td>...</td>``)."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.element = "body"
        self.texts: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.element = tag

    def handle_data(self, data: str) -> None:
        if data.strip() and self.element not in ("script", "style"):
            self.texts.append((self.element, data.strip()))

    def first(self, element: str) -> str:
        """The first text in the given element."""
        return next((text for name, text in self.texts if name == element), "")

    @property
    def rows(self) -> dict[str, str]:
        """The first value of each table row, by heading."""
        pairs = zip(self.texts, self.texts[1:], strict=False)
        found = [(head.rstrip(":").upper(), value) for (th, head), (td, value) in pairs if (th, td) == ("th", "td")]
        return dict(reversed(found))


_PACKAGE = re.compile(r"\b(?:[a-z][a-z0-9_]*\.)+(?=[A-Z]\w*(?:Exception|Error)\b)")


# What Druid reports about an unknown type, with all types that it knows: the hint names the nearest one, or a few.
_UNKNOWN_TYPE = re.compile(
    r"(?:Please make sure to load all the necessary extensions and jars with type '[^']*' on '[^']*' service\. )?"
    r"(?P<problem>Could not resolve type id '[^']*') as a subtype of `[^`]*` known type ids = \[[^]]*\]"
)


# What Druid reports about a lookup whose version does not replace the current one: with all of that, as Java writes it.
_CURRENT_LOOKUP = re.compile(r"(replace existing spec)\W.*", re.DOTALL)


def _without_lookup(text: str) -> str:
    """Return a text without a lookup in it, whose secrets are not recognized: they are not quoted there."""
    return _CURRENT_LOOKUP.sub(r"\1", text)


def _short(text: str) -> str:
    """Return one line, without Java package names and stack traces."""
    line = " ".join(re.split(r"\n\s*at ", text, maxsplit=1)[0].split())
    line = _UNKNOWN_TYPE.sub(r"\g<problem>", _PACKAGE.sub("", line))
    return line if len(line) <= MAX_TEXT_LENGTH else f"{line[: MAX_TEXT_LENGTH - 1]}…"


def hint_of_unauthorized(connection: Connection) -> str:
    """Return a hint that names the missing or wrong option."""
    if connection.token:
        return "Druid does not accept the token. Check the option token (DRUID_TOKEN) and whether it has expired"
    if connection.username is not None:
        return "Check the options username and password (DRUID_USERNAME, DRUID_PASSWORD)"
    return "Set the options username and password (DRUID_USERNAME, DRUID_PASSWORD), or token (DRUID_TOKEN)"


def hint_of_forbidden(connection: Connection, request: HttpRequest) -> str:
    """Return a hint that names the missing permission."""
    user = f"The user {connection.username}" if connection.username else "The user"
    missing = permissions.required(request.method, request.path, request.document, request.query)
    return f"{user} needs {permissions.as_text(missing)}" if missing else f"{user} lacks a permission"


def hint_of_unknown_path(service: str) -> str:
    """Return a hint that names the kind of server to use."""
    return (
        f"This server does not serve the API of the {service}. If it is a Router, enable its management proxy "
        "(druid.router.managementProxy.enabled=true), or set the option url to the Coordinator or the Overlord"
    )


_SQL_TASK = "/druid/v2/sql/task"
_MISSING_SQL = {
    404: "This server does not serve SQL. Set the option url to a Router or a Broker",
    405: (
        "This Druid has no multi-stage query engine. Up to version 34, add the extension druid-multi-stage-query to "
        "druid.extensions.loadList of all services"
    ),
}


def hint_of_missing_sql(path: str, status: int) -> str:
    """Return a hint if the server does not accept SQL, or SQL ingestion; empty if the response is another error."""
    return _MISSING_SQL.get(status, "") if path == _SQL_TASK or (path, status) == (SQL, 404) else ""


def hint_of_unlisted(target: str) -> str:
    """Return a hint for the target of a redirect that must not receive the credentials."""
    return (
        f"{target} may not receive the credentials, so nothing was sent to it. Allow its host as that of url is allowed"
    )


def hint_of_redirect(target: str) -> str:
    """Return a hint on how to allow the target of a redirect."""
    return (
        f"{target} is neither listed in the option url nor reported as leader by this server, so nothing was sent "
        "to it. If the target is correct, add it to url"
    )
