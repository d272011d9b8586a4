# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The names that fields of a spec have as variables with snakeCaseParameters: true."""

from __future__ import annotations

import re
from typing import Any

_NUMBERS = re.compile(r"([a-zA-Z])(\d+)([a-zA-Z](\d+))")
_WORDS = ("HTTP", "URL", "IP")


def snake_case_keys(value: Any) -> Any:
    """The value with the names of all fields changed, also of those in maps with keys of the author's choice."""
    if isinstance(value, dict):
        return {snake_case(key): snake_case_keys(each) for key, each in value.items()}
    if isinstance(value, list):
        return [snake_case_keys(each) for each in value]
    return value


def snake_case(name: str) -> str:
    """One name; an empty one is an IndexError, with which the real program gives up as well."""
    name = _NUMBERS.sub(r"\1 \2 \3", name).strip(" ")
    prefix = "_" if "A" <= name[0] <= "Z" else ""
    bits = _bits(_words_set_apart(name))
    return ("" if bits[0].upper() in _WORDS else prefix) + "_".join(bits).lower()


def _words_set_apart(name: str) -> str:
    for word in _WORDS:
        before, found, after = name.partition(word)
        if found and after.startswith("s"):
            # the plural is part of the word
            name = _set_apart(before, f"{word}S", after[1:])
        elif found:
            name = _set_apart(before, word, after)
    return name


def _set_apart(before: str, word: str, after: str) -> str:
    """With an underscore on both sides, but for the side where there is nothing; one before a word that is all."""
    begin = f"{before}_{word}" if before or not after else word
    return f"{begin}_{after}" if after else begin


def _bits(name: str) -> list[str]:
    bits, bit = [], ""
    for position, letter in enumerate(name):
        turns = _case_turns(letter, name[position + 1 : position + 2])
        if bit and bit[-1] != "_" and turns:
            bits.append(bit if letter.isupper() else bit + letter)
            bit = letter if letter.isupper() else ""
        elif letter in " _-":
            bits.append(bit)
            bit = ""
        else:
            bit += letter
    return [*bits, bit]


def _case_turns(letter: str, following: str) -> bool:
    both = letter + following
    return bool(re.fullmatch(r"[A-Z][a-z]|[a-z][A-Z]", both))
