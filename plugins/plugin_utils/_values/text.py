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


def digest(specified: Any) -> str:
    """Return the SHA-256 of a JSON document, independent of the order of its fields."""
    text = json.dumps(specified, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


BEGIN, MIDDLE, END, LINE = "beginning", "middle", "end", "line"
# Private characters: which part to keep, how many characters of it, and, after the text, its end.
_OPEN = {BEGIN: "\ue0f0", MIDDLE: "\ue0f1", END: "\ue0f2", LINE: "\ue0f4"}
_PART, _CLOSE, _LENGTH = {mark: part for part, mark in _OPEN.items()}, "\ue0f3", 0xF0000
# Before each of two texts that differ.
_BEFORE, _AFTER = "\ue0f5", "\ue0f6"
_MARKS = re.compile("[\ue0f0-\ue0f6\U000f0000-\U000ffffd]")
_EXCERPT = re.compile("([\ue0f0-\ue0f2\ue0f4])([\U000f0000-\U000ffffd])([^\ue0f0-\ue0f6]*)\ue0f3")
_CHANGE = re.compile("\ue0f5\n([^\ue0f0-\ue0f6]*)\n\ue0f6\n([^\ue0f0-\ue0f6]*)\n\ue0f3")
_BEFORE_DIFFERENCE = 20


def excerpt(text: str, length: int, part: str = BEGIN) -> str:
    """Return the text, marked to be truncated to `length` characters of its part when it is reported.

    Part of a secret would not be recognized. So a decision marks what is to be truncated, and the report, which knows
    the secrets, masks the whole text and then truncates it. Marks in the text are removed: it may be marked already, or
    another one may have written them.
    """
    text = _MARKS.sub("", text)
    return f"{_OPEN[part]}{chr(_LENGTH + length)}{text}{_CLOSE}" if len(text) > length else text


def shown(value: Any) -> str:
    """Return the beginning of a value in one line, which is truncated when it is reported; None is a missing one."""
    return _line("(none)" if value is None else excerpt(str(value), MAX_VALUE_CHARACTERS, LINE))


def shown_change(before: Any, after: Any) -> str:
    """Return both values as text; of long texts what differs, which is found out when they are reported."""
    if not (isinstance(before, str) and isinstance(after, str)):
        return f"{shown(before)} -> {shown(after)}"
    before, after = (_MARKS.sub("", each) for each in (before, after))
    if all(len(each) <= MAX_VALUE_CHARACTERS and len(each.splitlines()) < 2 for each in (before, after)):
        return _different_parts(before, after)
    # The line breaks keep the texts apart when secrets are searched for.
    return f"{_BEFORE}\n{before}\n{_AFTER}\n{after}\n{_CLOSE}"


def masked_excerpts(text: str, masked: Callable[[str], str]) -> str:
    """Return the text with masked secrets, in which each excerpt is truncated, and of each change what differs."""
    excerpts = _EXCERPT.sub(lambda found: _truncated(found[3], ord(found[2]) - _LENGTH, _PART[found[1]]), masked(text))
    return _MARKS.sub("", _CHANGE.sub(lambda found: _different_parts(found[1], found[2]), excerpts))


def _truncated(text: str, length: int, part: str) -> str:
    if part == LINE:
        text = _line(text)
        return text if len(text) <= length else f"{text[: length - 3]}..."
    if len(text) <= length:
        return text
    if part == MIDDLE:
        begin = length // 3
        return f"{text[:begin]} ... {text[len(text) - length + begin + 5 :]}"
    return text[-length:] if part == END else text[:length]


def _line(text: str) -> str:
    """Return the text in one line, unless it is truncated later."""
    return text if text.startswith(_OPEN[LINE]) else " ".join(text.split())


def _different_parts(before: str, after: str) -> str:
    """Return both in one line; if the beginning of each does not show the difference, from shortly before that."""
    first, second = _different_lines(before, after)
    if first == second and before != after:
        same = next((index for index, pair in enumerate(zip(before, after, strict=False)) if len({*pair}) > 1), 0)
        begin = max(0, same - _BEFORE_DIFFERENCE)
        first, second = (f"...{each}" for each in _different_lines(before[begin:], after[begin:]))
    return f"{first} -> {second}"


def _different_lines(before: str, after: str) -> tuple[str, str]:
    """Return the beginning of both; of texts of several lines only those that differ."""
    old, new = before.splitlines(), after.splitlines()
    removed, added = [line for line in old if line not in new], [line for line in new if line not in old]
    if (removed or added) and not len(old) == len(new) == 1:
        before, after = "\n".join(removed) or "(none)", "\n".join(added) or "(none)"
    return _truncated(before, MAX_VALUE_CHARACTERS, LINE), _truncated(after, MAX_VALUE_CHARACTERS, LINE)
