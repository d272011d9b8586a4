# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Long values as short texts: the first elements of a list, digests of documents, excerpts of texts of others. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from typing import Any

MAX_SHOWN = 5
MAX_VALUE_CHARACTERS = 80


def join_limited(texts: Iterable[str], separator: str = ", ") -> str:
    """Return the first texts, and the number of the others."""
    found = [*texts]
    shown = separator.join(found[:MAX_SHOWN])
    return shown if len(found) <= MAX_SHOWN else f"{shown}{separator}and {len(found) - MAX_SHOWN} more"


def shown(value: Any) -> str:
    """Return the beginning of a value in one line; None is a missing one."""
    if value is None:
        return "(none)"
    text = " ".join(str(value).split())
    return text if len(text) <= MAX_VALUE_CHARACTERS else f"{text[: MAX_VALUE_CHARACTERS - 3]}..."


def digest(specified: Any) -> str:
    """Return the SHA-256 of a JSON document, independent of the order of its fields."""
    text = json.dumps(specified, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


BEGIN, MIDDLE, END = "beginning", "middle", "end"
# Private characters: which part to keep, how many characters of it, and, after the text, its end.
_OPEN = {BEGIN: "\ue0f0", MIDDLE: "\ue0f1", END: "\ue0f2"}
_PART, _CLOSE, _LENGTH = {mark: part for part, mark in _OPEN.items()}, "\ue0f3", 0xF0000
_MARKS = re.compile("[\ue0f0-\ue0f3\U000f0000-\U000ffffd]")
_EXCERPT = re.compile("([\ue0f0-\ue0f2])([\U000f0000-\U000ffffd])([^\ue0f0-\ue0f3]*)\ue0f3")


def excerpt(text: str, length: int, part: str = BEGIN) -> str:
    """Return the text, marked to be truncated to `length` characters of its part when it is reported.

    Part of a secret would not be recognized. So a decision marks what is to be truncated, and the report, which knows
    the secrets, masks the whole text and then truncates it. Marks in the text are removed: it may be marked already, or
    another one may have written them.
    """
    text = _MARKS.sub("", text)
    return f"{_OPEN[part]}{chr(_LENGTH + length)}{text}{_CLOSE}" if len(text) > length else text


def masked_excerpts(text: str, masked: Callable[[str], str]) -> str:
    """Return the text with masked secrets, in which each excerpt is truncated."""
    return _MARKS.sub("", _EXCERPT.sub(_truncated, masked(text)))


def _truncated(found: re.Match[str]) -> str:
    part, length, text = _PART[found[1]], ord(found[2]) - _LENGTH, found[3]
    if len(text) <= length:
        return text
    if part == MIDDLE:
        begin = length // 3
        return f"{text[:begin]} ... {text[len(text) - length + begin + 5 :]}"
    return text[-length:] if part == END else text[:length]
