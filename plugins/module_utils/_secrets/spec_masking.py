# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
Masks secrets in specifications: those that are detected by name, and those at known locations.

The locations are a table. Queries are searched as well: their literals, by Calcite's grammar. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._secrets import masking
from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import Masker
from ansible_collections.druidops.druid.plugins.module_utils._secrets.secret import (
    MASK,
    Confidential,
    Quoting,
    Secret,
    is_secret_name,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import MAX_LEVELS, Path, upper_levels


def masked(value: Any) -> Any:
    """Return ``value``, a specification or a structure that contains specifications, with its secrets masked."""
    return masking.masked(marked(value))


def masked_parts(value: Any) -> Any:
    """Return ``value`` as ``masked`` does. A string with a part of a document ends at the first secret's name.

    The location of a secret, and its end, are known only in a whole document.
    """
    return masked(_without_cut_secrets(value))


def _without_cut_secrets(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_cut_secrets(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_cut_secrets(each) for each in value]
    if not isinstance(value, str) or isinstance(_decoded(value), Mapping | list):
        return value
    names = (name for name in _NAME.finditer(value) if name["name"] in _FIELDS_BY_NAME or is_secret_name(name["name"]))
    return next((value[: name.end()] + MASK for name in names), value)


# In JSON, or in JSON inside of a JSON string.
_NAME = re.compile(r'"(?P<name>[^"\\\r\n]{1,200})\\*"\s*:')


def masked_pair(before: Any, after: Any) -> tuple[Any, Any]:
    """Return both with their secrets masked, in a way that still shows which secrets have changed."""
    return masking.masked_pair(marked(before), marked(after))


def hidden(value: Any, source: Any) -> Any:
    """Return ``value``, a status or a message about ``source``, with its own secrets and those of ``source`` masked."""
    return masking.hidden(marked(value), marked(source))


def masker_of(documents: Iterable[Any]) -> Masker:
    """Return a masker for the secrets of these documents."""
    return Masker.of(marked(document) for document in documents)


class SecretField(NamedTuple):
    """A path below any mapping, at any depth. In all names but the first, ``*`` matches any characters.

    ``kind``: the required value of the mapping's field ``type``, if any. Everything at the path is secret.
    """

    path: Path
    kind: str | None = None


SECRET_FIELDS = (
    # consumers of Kafka and of RabbitMQ (docs: ingestion/kafka-ingestion, extensions-contrib/rabbit-super-stream-*),
    # and lookups from Kafka (docs: extensions-core/kafka-extraction-namespace)
    *(
        SecretField((properties, name))
        for properties in ("consumerProperties", "kafkaProperties")
        for name in ("sasl.jaas.config", "*password", "*.key", "*secret", "*token", "*.passphrase", "*.user.info")
    ),
    # the values of a DynamicConfigProvider (docs: operations/dynamic-config-provider)
    SecretField(("druid.dynamic.config.provider", "config")),
    SecretField(("config",), "mapString"),
    # PasswordProvider (docs: operations/password-provider)
    SecretField(("password",), "default"),
    # Kinesis (docs: ingestion/kinesis-ingestion)
    SecretField(("awsExternalId",)),
    # Schema registries (docs: ingestion/data-formats)
    SecretField(("headers",)),
    SecretField(("config", "*password"), "schema_registry"),
    SecretField(("config", "*token"), "schema_registry"),
    SecretField(("config", "*.key"), "schema_registry"),
    SecretField(("config", "*.user.info"), "schema_registry"),
    # Input sources (docs: ingestion/input-sources)
    SecretField(("httpAuthenticationPassword",)),
    SecretField(("requestHeaders",)),
    SecretField(("assumeRoleExternalId",)),
    SecretField(("accessKeyId",)),
    SecretField(("secretAccessKey",)),
    SecretField(("properties", "accessKey"), "oss"),
    SecretField(("properties", "secretKey"), "oss"),
    SecretField(("properties", "key"), "azureStorage"),
    SecretField(("properties", "sharedAccessStorageToken"), "azureStorage"),
    SecretField(("properties", "appRegistrationClientSecret"), "azureStorage"),
    SecretField(("proxyConfig", "password")),
    SecretField(("connectorConfig", "password")),
    SecretField(("catalogProperties", "*.key")),
    SecretField(("catalogProperties", "*secret*")),
    SecretField(("catalogProperties", "*password*")),
    SecretField(("catalogProperties", "*token*")),
    SecretField(("catalogProperties", "*credential*")),
    # Hadoop's tasks (docs: ingestion/hadoop)
    SecretField(("metadataUpdateSpec", "password")),
    SecretField(("jobProperties", "*.key")),
    SecretField(("jobProperties", "*secret*")),
    SecretField(("jobProperties", "*password*")),
)
# A provider's type, and the location of its secret, are not masked.
_PROVIDERS = frozenset({"default", "mapString"})
_ENVIRONMENT = "environment"
# The suffix of table function arguments that name an environment variable.
_ENVIRONMENT_SUFFIX = "EnvVar"
_TOKEN = re.compile(r'"(?P<text>(?:[^"\\]|\\.)*)"|-?\d[\d.eE+-]*')


def marked(document: Any, levels: int = MAX_LEVELS) -> Any:
    """Return the document with the secrets at known locations marked: Confidential values, and strings Quoting them.

    The document is a specification, or a structure that contains specifications. The search includes input sources in
    queries (EXTERN, or the arguments of S3, HTTP and similar functions) and specifications in JSON strings. It covers
    ``levels`` levels of mappings and lists in total, including the levels inside strings.
    """
    if isinstance(document, Mapping):
        kind = document.get("type")
        return {name: _marked_field(kind, name, value, levels - 1) for name, value in document.items()}
    if isinstance(document, list):
        return [marked(element, levels - 1) for element in document]
    return _marked_text(document, levels) if isinstance(document, str) else document


def _marked_field(kind: Any, name: Any, value: Any, levels: int) -> Any:
    found = marked(value, levels)
    for field in _FIELDS_BY_NAME.get(name, ()):
        if field.kind in (None, kind):
            found = _marked_at(found, field.path[1:])
    return found


def _fields_by_name() -> dict[str, list[SecretField]]:
    by_first: dict[str, list[SecretField]] = {}
    for field in SECRET_FIELDS:
        by_first.setdefault(field.path[0], []).append(field)
    return by_first


_FIELDS_BY_NAME = _fields_by_name()


def _marked_at(value: Any, path: Path) -> Any:
    if not path:
        return _confidential(value)
    if isinstance(value, list):
        return [_marked_at(element, path) for element in value]
    if not isinstance(value, Mapping):
        return value
    return {name: _marked_at(child, path[1:]) if fnmatchcase(name, path[0]) else child for name, child in value.items()}


def _confidential(value: Any) -> Any:
    if isinstance(value, Mapping):
        kind = value.get("type")
        if kind == _ENVIRONMENT:
            return value
        provider = {"type": kind} if isinstance(kind, str) and kind in _PROVIDERS else {}
        return {name: _confidential(child) for name, child in value.items()} | provider
    if isinstance(value, list):
        return [_confidential(element) for element in value]
    if isinstance(value, Quoting):
        return Confidential(value.text)
    is_one = isinstance(value, str | int | float) and not isinstance(value, bool) and value
    return Confidential(value) if is_one else value


def _marked_text(text: str, levels: int) -> str | Quoting:
    if text.lstrip().startswith(("{", "[")):
        found = list(_in_json(Literal(0, "", text), str, levels))
    else:
        found = [secret for literal in literals(text) for secret in _in_literal(literal, levels)]
    return Quoting(text, tuple(found)) if found else text


def _in_literal(literal: Literal, levels: int) -> Iterator[Secret]:
    if literal.text.lstrip().startswith(("{", "[")):
        yield from _in_json(literal, unquoted, levels)
    elif isinstance(_as_argument(literal.argument, literal.text, levels), Confidential):
        yield Secret(literal.start, literal.start + len(literal.raw), literal.argument, literal.text)


def _as_argument(name: str, value: Any, levels: int) -> Any:
    """Return the value of an argument, marked like the field of the input source with the same name."""
    is_secret = is_secret_name(name) and not name.endswith(_ENVIRONMENT_SUFFIX)
    return _confidential(value) if is_secret else _marked_field(None, name, value, levels)


def _in_json(literal: Literal, unquote: Callable[[str], str], levels: int) -> Iterator[Secret]:
    """Yield the secrets of a JSON document as they are written in it, with its escapes."""
    try:
        document = upper_levels(json.loads(unquote(literal.raw)), levels)
    except (ValueError, RecursionError):
        return
    values = set(_values(_as_argument(literal.argument, document, levels)))
    for token in _TOKEN.finditer(literal.raw) if values else ():
        value = _decoded(unquote(token[0]))
        if value in values:
            start, end = token.span("text" if token["text"] is not None else 0)
            yield Secret(literal.start + start, literal.start + end, "", str(value))


def _decoded(token: str) -> Any:
    try:
        return json.loads(token)
    except (ValueError, RecursionError):
        return None


def _values(document: Any) -> Iterator[Any]:
    """Yield the confidential values. A nested string that contains a secret is confidential as a whole."""
    if isinstance(document, Confidential):
        yield document.value
    elif isinstance(document, Quoting):
        yield document.text
    elif isinstance(document, Mapping | list):
        for child in document.values() if isinstance(document, Mapping) else document:
            yield from _values(child)


# Comments and quoted identifiers first: a quote inside of them does not start a literal.
_LITERAL = re.compile(
    r"--[^\n]*"
    r"|/\*(?:[^*]|\*(?!/))*(?:\*/)?"
    r'|"(?:[^"]|"")*"'
    r"|(?:(?<!\w)(?P<argument>\w{1,100})\s{0,100}=>\s{0,100})?'(?P<raw>(?:[^']|'')*)'"
)


class Literal(NamedTuple):
    """A literal as written, its start after the quote, and the argument's name, if any (``password => '...'``)."""

    start: int
    argument: str
    raw: str

    @property
    def text(self) -> str:
        """The value of the literal."""
        return unquoted(self.raw)


def literals(statement: str) -> Iterator[Literal]:
    """Yield the literals of a statement, in linear time. The result is arbitrary for invalid SQL."""
    for match in _LITERAL.finditer(statement) if "'" in statement else ():
        if match["raw"] is not None:
            yield Literal(match.start("raw"), match["argument"] or "", match["raw"])


def unquoted(raw: str) -> str:
    """Return the value of a literal without its quotes."""
    return raw.replace("''", "'")
