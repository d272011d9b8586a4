# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Server URLs, and the paths and queries below them. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from ansible_collections.druidops.druid.plugins.module_utils._secrets.secret import MASK, is_secret_name
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import HIDDEN, InvalidInput

PORTS = {"http": 80, "https": 443}
_EXAMPLE = "for example https://router.example.com:9088"


def path(*segments: str) -> str:
    """Return the path with these segments, each quoted: ``path("druid", "indexer", "v1", "supervisor", identifier)``.

    Raises InvalidInput for an invalid segment (empty, ``.``, ``..``, a lone surrogate).
    """
    return "".join(f"/{_segment(segment)}" for segment in segments)


def _segment(segment: str) -> str:
    if segment in ("", ".", ".."):
        raise InvalidInput("name", segment, "it is not a valid path segment in Druid's API. Use another name.")
    try:
        return quote(segment, safe="")
    except UnicodeEncodeError:
        raise InvalidInput("name", segment, "it is not valid Unicode. Use another name.") from None


def query(params: Mapping[str, Any] | None) -> str:
    """Return ``?name=value...`` without the parameters that are None; booleans are in lower case, as Druid expects."""
    specified = {name: _value(value) for name, value in (params or {}).items() if value is not None}
    return f"?{urlencode(specified)}" if specified else ""


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def server_url(url: str) -> str:
    """Return a server's URL in canonical form: no userinfo, no trailing slash. InvalidInput names the option url."""
    text = url.strip()
    if "@" in text:
        remedy = "the URL must not contain credentials. Use the options username and password, or token."
        raise InvalidInput("url", HIDDEN, remedy)
    _reject_page(text)
    try:
        return _server_url(text)
    except ValueError as error:
        raise InvalidInput("url", url, f"{error or 'it is not a URL'}. Set scheme, host, port, {_EXAMPLE}.") from None


# Paths that browsers and scripts use. The path of a gateway in front of Druid can be any other.
_CONSOLE = re.compile(r"/(?:[\w-]+\.html.*|#.*)")
_API = re.compile(r"/(?:druid/(?:\w+/v1|v2)|druid-ext|status)(?:/.*)?")


def _reject_page(text: str) -> None:
    """InvalidInput for the address of a page of the web console, or of a part of the API, with that of the server."""
    for pattern, name in ((_CONSOLE, "a page of the web console"), (_API, "a path of Druid's API")):
        found = re.fullmatch(rf"(?P<server>https?://[^/?#]+.*?){pattern.pattern}", text, re.IGNORECASE)
        if found:
            raise InvalidInput(
                "url", text, f"it is the address of {name}. Set only that of the server: {found['server']}."
            )


def _server_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme.lower() not in PORTS:
        raise ValueError("it must start with http:// or https://")
    if not parts.hostname or re.search(r"[\s\\\x00-\x1f]", text):
        raise ValueError("it has no host")
    if parts.query or parts.fragment:
        raise ValueError("it must not contain ? or #")
    return origin(text) + parts.path.rstrip("/")


def origin(url: str) -> str:
    """Return scheme, host and port in canonical form, without a default port. ValueError for an invalid URL."""
    parts = urlsplit(url)
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    port = parts.port
    return f"{scheme}://{host}" + (f":{port}" if port not in (None, PORTS.get(scheme)) else "")


def is_listed(url: str, hosts: Collection[str]) -> bool:
    """Return whether the list has the host of a server's URL, as ``host`` or ``host:port``, or ``*``."""
    parts = urlsplit(origin(url))
    host = parts.netloc.removesuffix(f":{parts.port}")
    port = parts.port or PORTS[parts.scheme]
    return not {"*", host, f"{host}:{port}"}.isdisjoint(each.strip().lower() for each in hosts)


def is_below(url: str, base: str) -> bool:
    """Return whether the URL is on the server at ``base`` and below its path."""
    parts = urlsplit(url)
    if {".", ".."} & set(unquote(parts.path).split("/")):
        return False
    return f"{origin(url)}{parts.path}/".startswith(f"{base}/")


def redacted(url: str) -> str:
    """Return the URL for use in messages: without userinfo and fragment, with secret query parameters masked."""
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    masked = [(name, MASK if is_secret_name(name) else value) for name, value in pairs]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, urlencode(masked, safe="*"), ""))
