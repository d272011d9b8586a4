# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a secret is, how it is found in a text, and the mask that replaces it. Pure.

The texts are properties, JVM options, command lines, URLs, JSON, XML, PEM keys. The patterns match any name with its
value; ``is_secret_name`` decides whether the name indicates a secret. Lookarounds are limited to a constant distance,
so that the time is linear in the length of the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

MASK = "********"


class Secret(NamedTuple):
    """A secret in a text: its start, its end, and the name that identified it, if any."""

    start: int
    end: int
    name: str
    value: str


@dataclass(frozen=True)
class Confidential:
    """Replaces a value in a document that is secret because of its location, whatever its name."""

    value: str | int | float


@dataclass(frozen=True)
class Quoting:
    """Replaces a string in a document that contains such values, such as a query with an input source."""

    text: str
    secrets: tuple[Secret, ...]


# Anywhere in a name, with any word separator: secretKey, secret-key, SECRET_KEY and secret.key are equivalent.
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


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """True if the name indicates a secret."""
    words = [word for word in re.split(r"[^a-z0-9]+", re.sub(_HUMP, "_", name).lower()) if word]
    joined = "".join(words)
    return any(part in joined for part in _PARTS) or not _LAST_WORDS.isdisjoint(words[-1:])


def is_provider(value: str) -> bool:
    """True for a PasswordProvider that only references the secret (type environment)."""
    if not value.lstrip().startswith("{"):
        return False
    try:
        return bool(json.loads(value).get("type") == "environment")
    except (ValueError, RecursionError):
        return False


# What all of the patterns below need. Most strings of a specification are single words.
_SEPARATOR = re.compile(r"[\s=:<]")


def secrets_in(text: str) -> Iterator[Secret]:
    """Yield every secret in the text, in no particular order. Secrets may overlap."""
    if not _SEPARATOR.search(text):
        return
    for head, value in _named():
        yield from _after(head, value, text)
    for block in _properties().finditer(text):
        yield from _property(block)
    for pattern in _unnamed():
        yield from (_secret(match, match["name"]) for match in pattern.finditer(text))


def _after(head: re.Pattern[str], value: re.Pattern[str], text: str) -> Iterator[Secret]:
    """Yield the value after each name that indicates a secret. The text after other names is searched as well."""
    position = 0
    while (named := head.search(text, position)) is not None:
        position = named.end()
        if is_secret_name(named["name"]) and (found := value.match(text, position)) and found["value"].strip():
            position = found.end()
            if not is_provider(found["value"]):
                yield _secret(found, named["name"])


def _secret(match: re.Match[str], name: str) -> Secret:
    return Secret(*match.span("value"), name, match["value"])


def _property(block: re.Match[str]) -> Iterator[Secret]:
    """Yield the secret of a Hadoop <property>, whose elements may be in any order."""
    name, value = (re.search(rf"<{tag}>(?P<{tag}>(?:[^<]|<(?!/{tag}>))+)", block[0]) for tag in ("name", "value"))
    if name is not None and value is not None and is_secret_name(name["name"]):
        start, end = value.span("value")
        yield Secret(block.start() + start, block.start() + end, name["name"].strip(), value["value"])


# Patterns are compiled on first use: a reconcile without changes does not need them.


@cache
def _named() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    return tuple((re.compile(head), re.compile(rf"(?P<value>{value})")) for head, value in _NAMED)


_PROPERTY = rf"(?:\\[^\r\n]|[^\s\\=:<>\"'{{}}#!]){_N}"
_LINE = r"(?:^|(?<=[\r\n]))[ \t\f#!-]*+(?:export[ \t]+)?"
_REST = r"(?:[^\r\n\\]|\\(?:\r\n|[\s\S]|$))*"
_NAMED = (
    # druid.metadata.storage.connector.password=..., a line (with its continuation lines) of a properties file, of YAML
    # or of a shell script. Comments are included: they may contain a value that was in use before.
    (rf"{_LINE}(?P<name>{_PROPERTY})[ \t\f]*[=:][ \t\f]*", _REST),
    # Whitespace is also a separator. In that case the name must look like that of a property, not like a word.
    (rf"{_LINE}(?P<name>(?=[^\s.]{{0,200}}\.\w){_PROPERTY})[ \t\f]+(?![=:\s])", _REST),
    # -Djavax.net.ssl.keyStorePassword=..., --password ...
    (rf"(?<![\w.\"'-])(?P<name>--?[A-Za-z][\w.-]{_N})(?:=|[ \t]+(?!--?[A-Za-z]))", rf"{_QUOTED}|\S+"),
    # ["-Djavax.net.ssl.keyStorePassword=...", "--password=..."]
    (rf"(?<=\")(?P<name>--?[A-Za-z][\w.-]{_N})(?:=|[ \t]+(?!--?[A-Za-z]))", r"[^\"\r\n]+"),
    (rf"(?<=')(?P<name>--?[A-Za-z][\w.-]{_N})(?:=|[ \t]+(?!--?[A-Za-z]))", r"[^'\r\n]+"),
    # jdbc:postgresql://db.example.com/druid?user=...&password=..., ;AccountKey=...
    (rf"(?<=[?&;])(?P<name>[\w.%-]{_N})=", r"[^\s&;\"'<>]+"),
    # --conf spark.hadoop.fs.s3a.secret.key=..., -D fs.s3a.access.key=..., host=db password=...
    (rf"(?<=[\s\"',(])(?P<name>[A-Za-z_][\w.-]{_N})=(?![=\s\"'])", r"[^\s\"',;)]+"),
    # password="...", in JAAS and in attributes of XML
    (rf"(?<![\w.-])(?P<name>[\w.-]{_N})\s*=\s*(?=[\"'])", _QUOTED),
    # "password": "..."
    (rf'"(?P<name>[^"\\\r\n]{_N})"\s*:\s*', r'"(?:[^"\\]|\\[\s\S])*"|-?\d[\d.eE+-]*'),
    # the same in JSON inside of a JSON string
    (rf'\\"(?P<name>[^"\\\r\n]{_N})\\"\s*:\s*\\"', r'(?:[^"\\]|\\[^"])+'),
    # <password>...</password>, <Property name="password">...</Property>, <property name="password" value="..."/>
    (rf"<(?P<name>[\w.:-]{_N})>", "[^<]+"),
    (rf"\b(?:name|key)\s*=\s*\"(?P<name>[^\"<>]{_N})\"[^<>]{{0,200}}(?<!/)>", "[^<]+"),
    (rf"\b(?:name|key)\s*=\s*\"(?P<name>[^\"<>]{_N})\"[^<>\"]{{0,200}}\bvalue\s*=\s*\"", r"[^\"<>]+"),
)


@cache
def _unnamed() -> tuple[re.Pattern[str], ...]:
    return (
        # https://user:...@example.com; the password may contain a slash
        re.compile(r"(?P<name>://[^\s/:@]{0,200}):(?P<value>[^\s\"'<>]{1,1000})(?=@)"),
        # jdbc:oracle:thin:scott/...@//db.example.com:1521/druid
        re.compile(r"(?P<name>\bjdbc:oracle:\w{1,20}:[^\s/@:\"']{1,200})/(?P<value>[^\s\"'<>]{1,1000})(?=@)"),
        # Authorization: Basic ..., anywhere
        re.compile(
            r"(?P<name>authorization)[\"'\\]{0,2}\s{0,9}[:=]\s{0,9}[\"'\\]{0,2}"
            r"(?P<value>(?:basic|bearer|digest|negotiate)\s+[^\s\"'\\]+)",
            re.IGNORECASE,
        ),
        # the key itself, up to its end marker or the end of the text
        re.compile(
            r"(?P<name>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----)"
            r"(?P<value>(?:[^-]|-(?!----))+(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?)"
        ),
    )


@cache
def _properties() -> re.Pattern[str]:
    return re.compile(r"<property\b(?:[^<]|<(?!/?property\b))*")
