# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Masks secrets in diffs, messages, events and conditions."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._secrets.secret import (
    MASK,
    Confidential,
    Quoting,
    Secret,
    is_secret_name,
    secrets_in,
)

CHANGED = "******** (changed)"
MIN_SECRET_LENGTH = 4

# Suffixes of fields that contain the location of a secret.
_LOCATION_SUFFIXES = ("name", "namespace", "ref", "file", "path", "type", "provider", "secret-hash")
# Names of fields whose numbers are also secrets.
_PASSWORDS = re.compile("pass(?:word|wd|phrase)|secret|pwd", re.IGNORECASE)
# Values that are never treated as secrets: masking them would mask ordinary words.
_ORDINARY = frozenset({"true", "false", "null", "none"})
# The option of modules for when a password is set.
_WHEN = frozenset({("update_password", "always"), ("update_password", "on_create")})
# A secret that could be a word or a part of a name: druid is masked as a separate word, not in druid-wiki-brokers.
_WORD = re.compile(r"[\w.-]{1,15}", re.ASCII)
_BEFORE = r"(?:(?<![\w-])(?<!\w[./])|(?<=\\[nrt]))"
_AFTER = r"(?![\w-])(?![./]\w)"
_CONTINUATION = re.compile(r"\\(?:\r\n|\r|\n)[ \t\f]*")
# Authorization: Basic ..., which other texts repeat without the scheme
_CREDENTIAL = re.compile(r"(?:basic|bearer|digest|negotiate)\s+(?P<credential>\S+)", re.IGNORECASE)
# What Go escapes in JSON besides what Python does, and how strconv.Quote escapes.
_GO_JSON = re.compile("[<>&\u2028\u2029]")
_GO_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    **{chr(code): f"\\{letter}" for code, letter in zip(range(7, 14), "abtnvfr", strict=True)},
}
_FLAG = re.compile(r"--?[A-Za-z][\w.-]*")


@dataclass(frozen=True)
class Masker:
    """Masks the secrets of given objects in any text."""

    secrets: tuple[str, ...] = ()

    @classmethod
    def of(cls, objects: Iterable[Any]) -> Masker:
        """Return a masker for these objects: specifications, manifests, settings."""
        found = {form for each in objects for name, secret in _secrets(each) for form in _forms(name, secret)}
        found = {secret for secret in found if len(secret) >= MIN_SECRET_LENGTH and secret.lower() not in _ORDINARY}
        return cls(tuple(sorted(found, key=len, reverse=True)))

    def __or__(self, other: Masker) -> Masker:
        return Masker(tuple(sorted({*self.secrets, *other.secrets}, key=len, reverse=True)))

    def text(self, text: str) -> str:
        """Return ``text`` (such as an error message of a server) with the secrets masked."""
        return self._pattern.sub(MASK, text) if self.secrets else text

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(_anywhere_or_alone, self.secrets)))


def _anywhere_or_alone(secret: str) -> str:
    escaped = re.escape(secret)
    return f"{_BEFORE}{escaped}{_AFTER}" if _WORD.fullmatch(secret) else escaped


def _forms(name: str, secret: str) -> Iterator[str]:
    """Yield the forms in which other texts may contain the secret: plain, escaped, or without the user name."""
    bare = _bare(secret)
    yield bare
    for escaped in (True, False):
        yield json.dumps(bare, ensure_ascii=escaped)[1:-1]
    yield from _go_forms(bare)
    yield html.unescape(bare)
    # one of several lines, in a message of one line
    yield " ".join(bare.split())
    yield _CONTINUATION.sub("", bare)
    if secret != bare and "\\" in bare:
        yield re.sub(r"\\(.)", r"\1", bare)
    if credential := _CREDENTIAL.fullmatch(bare):
        yield credential["credential"]
    if ":" in bare and "\n" not in bare and ("basic" in name.lower() or "user" in name.lower()):
        yield bare.partition(":")[2]


def _go_forms(secret: str) -> Iterator[str]:
    """Yield the forms in which a program in Go, such as the API server, repeats a text: quoted, as JSON, or both."""
    encoded = _GO_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", json.dumps(secret, ensure_ascii=False)[1:-1])
    yield encoded
    yield _go_quoted(secret)
    yield _go_quoted(encoded)


def _go_quoted(text: str) -> str:
    """Return a text as strconv.Quote of Go has it, without the quotes around it."""
    return "".join(_GO_ESCAPES.get(each) or (each if each.isprintable() else _go_code(ord(each))) for each in text)


def _go_code(code: int) -> str:
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def masked_pair(before: Any, after: Any) -> tuple[Any, Any]:
    """Return both with their secrets masked, in a way that still shows which secrets have changed."""
    if isinstance(before, Confidential) or isinstance(after, Confidential):
        return _hidden(before, after)
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
    """Return both values masked. The result only shows whether they are equal."""
    before, after = (each.value if isinstance(each, Confidential) else each for each in (before, after))
    return MASK if before else before, (MASK if after == before else CHANGED) if after else after


def _masked_lists(before: list[Any], after: list[Any]) -> tuple[list[Any], list[Any]]:
    """Pair elements by name if they have one, so that an inserted element does not shift the others."""
    names = {name: element for element in before if (name := _name_of(element)) is not None}
    flagged = _flagged(after)
    new = []
    for index, element in enumerate(after):
        name = _name_of(element)
        by_name = names.get(name) if name is not None else None
        partner = by_name if by_name is not None else before[index] if index < len(before) else None
        new.append((_hidden if index in flagged else masked_pair)(partner, element)[1])
    return masked(before), new


def _name_of(element: Any) -> str | None:
    """Return the name of an element, None if it has none or if it is not a string."""
    name = element.get("name") if isinstance(element, Mapping) else None
    return name if isinstance(name, str) else None


def _flagged(elements: list[Any]) -> frozenset[int]:
    """Return the positions of the arguments that follow a flag like --password."""
    return frozenset(
        index
        for index, (flag, value) in enumerate(pairwise(elements), 1)
        if isinstance(flag, str) and isinstance(value, str) and _FLAG.fullmatch(flag) and is_secret_name(flag)
    )


def _masked_after(before: Any, after: Any) -> Any:
    if not (isinstance(before, str | Quoting) and isinstance(after, str | Quoting)) or before == after:
        return masked(after)
    known = {(secret.name, secret.value) for secret in _found(before)}
    return _mask_text(after, lambda name, value: MASK if (name, value) in known else CHANGED)


def hidden(value: Any, source: Any) -> Any:
    """Return ``value``, a status or a message about ``source``, with its own secrets and those of ``source`` masked."""
    return _without_texts(masked(value), Masker.of([source]))


def _without_texts(value: Any, masker: Masker) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_texts(child, masker) for name, child in value.items()}
    if isinstance(value, list):
        return [_without_texts(element, masker) for element in value]
    return masker.text(value) if isinstance(value, str) else value


def masked(value: Any) -> Any:
    """Return ``value`` with its secrets masked."""
    if isinstance(value, Confidential):
        return MASK
    if isinstance(value, Mapping):
        hidden = {"value": MASK} if _is_secret_entry(value) and value.get("value") else {}
        return {name: MASK if _is_secret(name, child) else masked(child) for name, child in value.items()} | hidden
    if isinstance(value, list):
        flagged = _flagged(value)
        return [MASK if index in flagged else masked(element) for index, element in enumerate(value)]
    return _mask_text(value, lambda _name, _secret: MASK) if isinstance(value, str | Quoting) else value


def _found(text: str | Quoting) -> Iterator[Secret]:
    """Yield the secrets in a text: those that are detected by name, and those that are known."""
    if isinstance(text, str):
        yield from secrets_in(text)
    else:
        yield from (*text.secrets, *secrets_in(text.text))


def _mask_text(whole: str | Quoting, mask: Callable[[str, str], str]) -> str:
    """Replace each secret by ``mask(name, value)``. Of overlapping secrets, the outermost is replaced."""
    text = whole if isinstance(whole, str) else whole.text
    pieces, end = [], 0
    for secret in sorted(_found(whole), key=lambda found: (found.start, -found.end)):
        if secret.value.startswith(MASK):
            continue
        if secret.start >= end:
            pieces += [text[end : secret.start], mask(secret.name, secret.value)]
        end = max(end, secret.end)
    return "".join([*pieces, text[end:]])


def _is_secret_entry(entry: Mapping[str, Any]) -> bool:
    """True for an environment variable (name, value) whose name indicates a secret value."""
    return isinstance(entry.get("name"), str) and "value" in entry and is_secret_name(entry["name"])


def _is_secret(name: Any, value: Any) -> bool:
    """True for an entry of a mapping whose name indicates a secret value, rather than the location of a secret."""
    value = value.text if isinstance(value, Quoting) else value
    if not (isinstance(name, str) and isinstance(value, str | int | float) and value) or isinstance(value, bool):
        return False
    if (name, value) in _WHEN:
        return False
    if not isinstance(value, str) and not (_PASSWORDS.search(name) and len(str(value)) >= MIN_SECRET_LENGTH):
        # a count of tokens is not a secret
        return False
    return is_secret_name(name) and not name.lower().endswith(_LOCATION_SUFFIXES)


def _bare(secret: str) -> str:
    """Return the secret without surrounding quotes."""
    is_quoted = len(secret) > 1 and secret[0] == secret[-1] and secret[0] in "\"'"
    return secret[1:-1] if is_quoted else secret.strip()


def _secrets(value: Any) -> Iterator[tuple[str, str]]:
    """Yield (name, secret) for every value that is masked."""
    if isinstance(value, Confidential):
        yield "", str(value.value)
        yield from _secrets(value.value)
    elif isinstance(value, Mapping):
        yield from _secrets_of_mapping(value)
    elif isinstance(value, list):
        yield from (("", value[index]) for index in _flagged(value))
        for element in value:
            yield from _secrets(element)
    elif isinstance(value, str | Quoting):
        yield from ((secret.name, secret.value) for secret in _found(value))


def _secrets_of_mapping(mapping: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if _is_secret_entry(mapping) and isinstance(mapping["value"], str):
        yield mapping["name"], mapping["value"]
    for name, child in mapping.items():
        if isinstance(child, Confidential) or _is_secret(name, child):
            yield name, _text(child)
        yield from _secrets(child)


def _text(secret: Any) -> str:
    if isinstance(secret, Quoting):
        return secret.text
    return str(secret.value if isinstance(secret, Confidential) else secret)
