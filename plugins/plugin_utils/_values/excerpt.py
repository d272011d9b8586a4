# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parts of texts of others, such as logs: secrets are masked in the whole text, and then it is truncated.

Part of a secret would not be recognized. So a decision marks what is to be truncated, and the report, which knows the
secrets, truncates it. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable

BEGIN, MIDDLE, END = "beginning", "middle", "end"
# Private characters: how much to keep of which part, the text, and its end.
_OPEN, _SEPARATOR, _CLOSE = "\ue0f0", "\ue0f1", "\ue0f2"
# The innermost one.
_EXCERPT = re.compile(f"{_OPEN}(\\w+) (\\d+){_SEPARATOR}([^{_OPEN}{_CLOSE}]*){_CLOSE}")


def excerpt(text: str, length: int, part: str = BEGIN) -> str:
    """Return the text, marked to be truncated to `length` characters of its part when it is reported."""
    return f"{_OPEN}{part} {length}{_SEPARATOR}{text}{_CLOSE}" if len(text) > length else text


def masked_excerpts(text: str, masked: Callable[[str], str]) -> str:
    """Return the text with masked secrets, in which each excerpt is truncated."""
    text = masked(text)
    while (shorter := _EXCERPT.sub(_truncated, text)) != text:
        text = shorter
    return text


def _truncated(found: re.Match[str]) -> str:
    part, length, text = found[1], int(found[2]), found[3]
    if len(text) <= length:
        return text
    if part == MIDDLE:
        begin = length // 3
        return f"{text[:begin]} ... {text[len(text) - length + begin + 5 :]}"
    return text[-length:] if part == END else text[:length]
