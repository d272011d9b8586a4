# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secrets do not leave: they are masked in diffs, messages, events and conditions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MASK = "********"
CHANGED = "******** (another value)"
SHORTEST_SECRET = 4

_WORDS = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "credential",
    "access[._-]?key",
    "private[._-]?key",
    "api[._-]?key",
    "jaas",
)
_SECRET = rf"[^\s=:<>]*(?:{'|'.join(_WORDS)})[^\s=:<>]*"
# A value with the lines that a backslash continues it on.
_CONTINUED = r"[^\n]*\\\n(?:[^\n]*\\\n)*[^\n]*|[^\n]+"
_NAME = re.compile(_SECRET, re.IGNORECASE)
_TEXTS = (
    # druid.metadata.storage.connector.password=..., a line of a properties file
    re.compile(
        rf"(?P<name>(?:^|(?<=\n))[ \t]*{_SECRET})(?P<separator>[ \t]*[=:][ \t]*)(?P<value>{_CONTINUED})", re.IGNORECASE
    ),
    # -Djavax.net.ssl.keyStorePassword=...
    re.compile(rf"(?P<name>-D{_SECRET})(?P<separator>=)(?P<value>\"[^\"\n]*\"|'[^'\n]*'|\S+)", re.IGNORECASE),
    # jdbc:postgresql://db.example.com/druid?user=...&password=...
    re.compile(
        rf"(?P<name>[?&;](?:(?![?&;])\S)*?(?:{'|'.join(_WORDS)})[\w.-]*)(?P<separator>=)(?P<value>[^\s&;\"'<>]+)",
        re.IGNORECASE,
    ),
    # https://user:...@example.com
    re.compile(r"(?P<name>://[^\s/:@]+)(?P<separator>:)(?P<value>[^\s/@]+)(?=@)"),
    # <name>fs.s3a.secret.key</name><value>...</value>
    re.compile(rf"(?P<name><name>\s*{_SECRET}\s*</name>)(?P<separator>\s*<value>)(?P<value>[^<]+)", re.IGNORECASE),
    # "password": "..."
    re.compile(rf'(?P<name>"{_SECRET}")(?P<separator>\s*:\s*)(?P<value>"(?:[^"\\]|\\.)*")', re.IGNORECASE),
)
# Names of fields that tell where a secret is.
_PLACES = re.compile(r".*(?:name|namespace|ref|file|path|type|provider|secret-hash)", re.IGNORECASE | re.DOTALL)
# A copy of the whole object, in a notation of its own.
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
# Values that are no secrets, whatever they are called: they would blot out ordinary words.
_ORDINARY = frozenset({"true", "false", "null", "none"})
# A property whose value says where the secret is, not what it is.
_PROVIDER = re.compile(r'^\s*\{\s*"type"\s*:\s*"environment"')


@dataclass(frozen=True)
class Masker:
    """Masks the secrets that stand in the objects it was made of."""

    secrets: tuple[str, ...] = ()

    @classmethod
    def of(cls, objects: Iterable[Mapping[str, Any]]) -> Masker:
        found = {_bare(secret) for each in objects for _name, secret in _secrets(each)}
        found = {secret for secret in found if len(secret) >= SHORTEST_SECRET and secret.lower() not in _ORDINARY}
        return cls(tuple(sorted(found, key=len, reverse=True)))

    def text(self, text: str) -> str:
        """Return ``text`` (an error of the server, say) without the secrets."""
        for secret in self.secrets:
            text = text.replace(secret, MASK)
        return text


def masked_pair(before: Any, after: Any) -> tuple[Any, Any]:
    """Return both with their secrets masked, so that a changed secret can still be seen to have changed."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return _masked_mappings(before, after)
    if isinstance(before, list) and isinstance(after, list):
        return _masked_lists(before, after)
    return masked(before), _masked_after(before, after)


def _masked_mappings(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    pairs = {name: _masked_entries(name, before.get(name), after.get(name)) for name in {**before, **after}}
    if _is_secret_entry(before) or _is_secret_entry(after):
        pairs["value"] = _hidden(before.get("value"), after.get("value"))
    return {name: pairs[name][0] for name in before}, {name: pairs[name][1] for name in after}


def _masked_entries(name: str, before: Any, after: Any) -> tuple[Any, Any]:
    is_secret = _is_secret(name, before) or _is_secret(name, after)
    return _hidden(before, after) if is_secret else masked_pair(before, after)


def _hidden(before: Any, after: Any) -> tuple[Any, Any]:
    """Return both without what they say; only whether they are the same is told."""
    return MASK if before else before, (MASK if after == before else CHANGED) if after else after


def _masked_lists(before: list[Any], after: list[Any]) -> tuple[list[Any], list[Any]]:
    """Pair the elements by name where they have one, so that an inserted one does not shift the rest."""
    names = {element["name"]: element for element in before if isinstance(element, Mapping) and "name" in element}
    old = [masked(element) for element in before]
    new = []
    for index, element in enumerate(after):
        by_name = names.get(element.get("name")) if isinstance(element, Mapping) else None
        partner = by_name if by_name is not None else before[index] if index < len(before) else None
        new.append(masked_pair(partner, element)[1])
    return old, new


def _masked_after(before: Any, after: Any) -> Any:
    if not (isinstance(before, str) and isinstance(after, str)) or before == after:
        return masked(after)
    known = set(_secrets(before))
    return _mask_text(after, lambda name, value: MASK if (name, value) in known else CHANGED)


def masked(value: Any) -> Any:
    """Return ``value`` with its secrets masked."""
    if isinstance(value, Mapping):
        hidden = {"value": MASK} if _is_secret_entry(value) and value.get("value") else {}
        return {name: MASK if _is_secret(name, child) else masked(child) for name, child in value.items()} | hidden
    if isinstance(value, list):
        return [masked(element) for element in value]
    return _mask_text(value, lambda _name, _secret: MASK) if isinstance(value, str) else value


def _mask_text(text: str, mask: Callable[[str, str], str]) -> str:
    def masked_match(match: re.Match[str]) -> str:
        name, separator, value = match.group("name", "separator", "value")
        if value.startswith(MASK) or _PROVIDER.match(value):
            return match.group()
        return f"{name}{separator}{mask(name, value)}"

    for pattern in _TEXTS:
        text = pattern.sub(masked_match, text)
    return text


def _is_secret_entry(entry: Mapping[str, Any]) -> bool:
    """True for an environment variable (name, value) whose name says that its value is a secret."""
    return isinstance(entry.get("name"), str) and "value" in entry and bool(_NAME.fullmatch(entry["name"]))


def _is_secret(name: str, value: Any) -> bool:
    """True for an entry of a mapping whose name says that its value is a secret, not where one is."""
    if name == _LAST_APPLIED:
        return True
    is_named_so = isinstance(name, str) and _NAME.fullmatch(name) and not _PLACES.fullmatch(name)
    return isinstance(value, str) and bool(value and is_named_so)


def _bare(secret: str) -> str:
    """Return the secret without the quotes around it."""
    is_quoted = len(secret) > 1 and secret[0] == secret[-1] and secret[0] in "\"'"
    return secret[1:-1] if is_quoted else secret.strip()


def _secrets(value: Any) -> Iterator[tuple[str, str]]:
    """Yield (name, secret) of everything that is masked."""
    if isinstance(value, Mapping):
        yield from _secrets_of_mapping(value)
    elif isinstance(value, list):
        for element in value:
            yield from _secrets(element)
    elif isinstance(value, str):
        matches = (match for pattern in _TEXTS for match in pattern.finditer(value))
        yield from ((match["name"], match["value"]) for match in matches if not _PROVIDER.match(match["value"]))


def _secrets_of_mapping(mapping: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if _is_secret_entry(mapping) and isinstance(mapping["value"], str):
        yield mapping["name"], mapping["value"]
    for name, child in mapping.items():
        if name == _LAST_APPLIED:
            continue
        if _is_secret(name, child):
            yield name, child
        yield from _secrets(child)
