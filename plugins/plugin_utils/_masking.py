# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secrets do not leave: they are masked in diffs, messages, events and conditions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
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
    re.compile(rf"(?P<name>-D{_SECRET})(?P<separator>=)(?P<value>\S+)", re.IGNORECASE),
    # <name>fs.s3a.secret.key</name><value>...</value>
    re.compile(rf"(?P<name><name>\s*{_SECRET}\s*</name>)(?P<separator>\s*<value>)(?P<value>[^<]+)", re.IGNORECASE),
    # "password": "..."
    re.compile(rf'(?P<name>"{_SECRET}")(?P<separator>\s*:\s*)(?P<value>"(?:[^"\\]|\\.)*")', re.IGNORECASE),
)
# A property whose value says where the secret is, not what it is.
_PROVIDER = re.compile(r'^\s*\{\s*"type"\s*:\s*"environment"')


@dataclass(frozen=True)
class Masker:
    """Masks the secrets that stand in the objects it was made of."""

    secrets: tuple[str, ...] = ()

    @classmethod
    def of(cls, objects: Iterable[Mapping[str, Any]]) -> Masker:
        found = {secret for each in objects for secret in _secrets(each) if len(secret) >= SHORTEST_SECRET}
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
    pairs = {name: masked_pair(before.get(name), after.get(name)) for name in {**before, **after}}
    if _is_secret_entry(before) or _is_secret_entry(after):
        old, new = before.get("value"), after.get("value")
        pairs["value"] = (MASK if old else old, (MASK if new == old else CHANGED) if new else new)
    return {name: pairs[name][0] for name in before}, {name: pairs[name][1] for name in after}


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
    return _mask_text(after, lambda value: MASK if value in known else CHANGED)


def masked(value: Any) -> Any:
    """Return ``value`` with its secrets masked."""
    if isinstance(value, Mapping):
        hidden = {"value": MASK} if _is_secret_entry(value) and value.get("value") else {}
        return {name: masked(child) for name, child in value.items()} | hidden
    if isinstance(value, list):
        return [masked(element) for element in value]
    return _mask_text(value, lambda _secret: MASK) if isinstance(value, str) else value


def _mask_text(text: str, mask: Any) -> str:
    def masked_match(match: re.Match[str]) -> str:
        name, separator, value = match.group("name", "separator", "value")
        return match.group() if _PROVIDER.match(value) else f"{name}{separator}{mask(value)}"

    for pattern in _TEXTS:
        text = pattern.sub(masked_match, text)
    return text


def _is_secret_entry(entry: Mapping[str, Any]) -> bool:
    """True for an environment variable (name, value) whose name says that its value is a secret."""
    return isinstance(entry.get("name"), str) and "value" in entry and bool(_NAME.fullmatch(entry["name"]))


def _secrets(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if _is_secret_entry(value) and isinstance(value["value"], str):
            yield value["value"]
        for child in value.values():
            yield from _secrets(child)
    elif isinstance(value, list):
        for element in value:
            yield from _secrets(element)
    elif isinstance(value, str):
        for pattern in _TEXTS:
            yield from (
                match.group("value") for match in pattern.finditer(value) if not _PROVIDER.match(match.group("value"))
            )
