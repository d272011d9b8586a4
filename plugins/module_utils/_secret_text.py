# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where secrets stand in a text: properties, JVM options, command lines, URLs, JSON, XML, keys in PEM. Pure.

The patterns find names and values whatever they are called; whether a name speaks of a secret is decided apart. None of
them looks further than a constant distance, or past its own end, so that no text takes more than linear time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

# Anywhere in a name, whatever separates its words: secretKey, secret-key, SECRET_KEY and secret.key are the same.
_PARTS = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "credential",
    "jaas",
    "accesskey",
    "accountkey",
    "apikey",
    "azurekey",
    "encodedkey",
    "encryptionkey",
    "keystorekey",
    "masterkey",
    "privatekey",
    "sharedkey",
    "signingkey",
    "storagekey",
    # druid.emitter.http.basicAuthentication, basic.auth.user.info: user:password
    "basicauthentication",
    "userinfo",
)
# The last word of a name: druid.zk.service.pwd, DB_PW, ...?sig=
_LAST_WORDS = frozenset({"pwd", "pw", "pass", "authorization", "cookie", "sas", "sig", "signature"})
_HUMP = r"(?<=[a-z0-9])(?=[A-Z])"
_QUOTED = r"\"(?:[^\"\\]|\\[\s\S])*\"|'(?:[^'\\]|\\[\s\S])*'"
_LONGEST_NAME = 200
_N = rf"{{1,{_LONGEST_NAME}}}"


class Secret(NamedTuple):
    """A secret in a text: from where to where, and the name that gives it away."""

    start: int
    end: int
    name: str
    value: str


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """True when what is called so is a secret, as far as one can tell from its name."""
    words = [word for word in re.split(r"[^a-z0-9]+", re.sub(_HUMP, "_", name).lower()) if word]
    joined = "".join(words)
    return any(part in joined for part in _PARTS) or bool(words) and words[-1] in _LAST_WORDS


def is_provider(value: str) -> bool:
    """True for a PasswordProvider that says where the secret is, not what it is (type environment)."""
    if not value.lstrip().startswith("{"):
        return False
    try:
        return bool(json.loads(value).get("type") == "environment")
    except (ValueError, RecursionError):
        return False


def secrets_in(text: str) -> Iterator[Secret]:
    """Yield every secret in the text, in no particular order; one may be a part of another."""
    for pattern in _patterns():
        for match in pattern.finditer(text):
            name = match["name"]
            if is_secret_name(name):
                yield from _secret(match, "value", name)
    for block in _properties().finditer(text):
        yield from _property(block)
    for pattern in _always():
        for match in pattern.finditer(text):
            yield from _secret(match, "value", match["name"])
    yield from _lines(text)


def _secret(match: re.Match[str], group: str, name: str) -> Iterator[Secret]:
    value = match[group]
    if value and not is_provider(value):
        yield Secret(*match.span(group), name, value)


def _lines(text: str) -> Iterator[Secret]:
    """Yield the secrets of a properties file, with the lines that a backslash continues them on."""
    for match in _line().finditer(text):
        if is_secret_name(match["name"]):
            value = _continued().match(text, match.end())
            if value is not None:
                yield from _secret(value, "value", match["name"])


def _property(block: re.Match[str]) -> Iterator[Secret]:
    """Yield the secret of a <property> of Hadoop, whose elements may stand in any order."""
    name = _xml_name().search(block[0])
    value = _xml_value().search(block[0])
    if name is not None and value is not None and value["value"] and is_secret_name(name["name"]):
        start, end = value.span("value")
        yield Secret(block.start() + start, block.start() + end, name["name"], value["value"])


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    # Compiled when there is something to mask: a pass that changes nothing does not pay for them.
    return tuple(
        re.compile(pattern)
        for pattern in (
            # -Djavax.net.ssl.keyStorePassword=..., --password ...
            rf"(?<![\w.\"'-])(?P<name>--?[A-Za-z][\w.-]{_N})(?:=|[ \t]+(?!-))(?P<value>{_QUOTED}|\S+)",
            # ["-Djavax.net.ssl.keyStorePassword=...", "--password=..."]
            rf"(?P<quote>[\"'])(?P<name>--?[A-Za-z][\w.-]{_N})=(?P<value>(?:(?!(?P=quote))[^\r\n])*)",
            # jdbc:postgresql://db.example.com/druid?user=...&password=..., ;AccountKey=...
            rf"(?<=[?&;])(?P<name>[\w.%-]{_N})=(?P<value>[^\s&;\"'<>]+)",
            # password="...", in JAAS and in attributes of XML
            rf"(?<![\w.-])(?P<name>[\w.-]{_N})\s*=\s*(?P<value>{_QUOTED})",
            # "password": "..."
            rf'"(?P<name>[^"\\\r\n]{_N})"\s*:\s*(?P<value>"(?:[^"\\]|\\[\s\S])*"|-?\d[\d.eE+-]*)',
            # the same in a JSON text that is itself a text in JSON
            rf'\\"(?P<name>[^"\\\r\n]{_N})\\"\s*:\s*\\"(?P<value>(?:[^"\\]|\\[^"])*)',
            # <password>...</password>
            rf"<(?P<name>[\w.:-]{_N})>(?P<value>[^<]+)</",
            # <Property name="password">...</Property>
            rf"\b(?:name|key)\s*=\s*\"(?P<name>[^\"<>]{_N})\"[^<>]{{0,200}}>(?P<value>[^<]+)</",
            # <property name="password" value="..."/>
            rf"\b(?:name|key)\s*=\s*\"(?P<name>[^\"<>]{_N})\"[^<>\"]{{0,200}}\bvalue\s*=\s*\"(?P<value>[^\"<>]*)",
        )
    )


@cache
def _always() -> tuple[re.Pattern[str], ...]:
    return (
        # https://user:...@example.com; what is behind the colon may have a slash in it
        re.compile(r"(?P<name>://[^\s/:@]{0,200}):(?P<value>[^\s\"'<>]{1,500})(?=@)"),
        # Authorization: Basic ..., wherever it stands
        re.compile(
            r"(?P<name>authorization)[\"'\\]{0,2}\s{0,9}[:=]\s{0,9}[\"'\\]{0,2}"
            r"(?P<value>(?:basic|bearer|digest|negotiate)\s+[^\s\"'\\]+)",
            re.IGNORECASE,
        ),
        # the key itself, to its end or to that of the text
        re.compile(
            r"(?P<name>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----)"
            r"(?P<value>(?:[^-]|-(?!----))+(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?)"
        ),
    )


@cache
def _line() -> re.Pattern[str]:
    # A comment may hold what was in force yesterday. A blank separates, too, after what looks like a property's name.
    name = rf"(?:\\[^\r\n]|[^\s\\=:<>\"'{{}}#!]){_N}"
    return re.compile(
        rf"(?:^|(?<=[\r\n]))[ \t\f#!-]*(?:export[ \t]+)?"
        rf"(?P<name>{name})(?:[ \t\f]*[=:][ \t\f]*|(?<=[\w])(?<![=:])[ \t\f]+(?=\S))"
    )


@cache
def _continued() -> re.Pattern[str]:
    end = r"(?:\r\n|\r|\n)"
    return re.compile(rf"(?P<value>(?:[^\r\n\\]|\\{end}|\\[^\r\n])*)")


@cache
def _properties() -> re.Pattern[str]:
    return re.compile(r"<property\b(?:[^<]|<(?!/?property\b))*")


@cache
def _xml_name() -> re.Pattern[str]:
    return re.compile(r"<name>\s*(?P<name>[^<>\s]+)\s*</name>")


@cache
def _xml_value() -> re.Pattern[str]:
    return re.compile(r"<value>(?P<value>(?:[^<]|<(?!/value>))*)")
