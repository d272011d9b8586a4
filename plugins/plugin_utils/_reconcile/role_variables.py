# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables with a role's prefix that the role does not have: most are typing errors, and would be ignored. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

# Of whole names: with the prefix, two of four characters may differ (wiat, wait).
SIMILARITY = 0.93
MAX_CHARACTERS = 80
# Variables of every role: the registered result, and what the role prints.
_COMMON = ("result", "print_result")


@dataclass(frozen=True)
class UnknownVariables:
    """Names of unknown variables: `mistyped` with the known one that each is similar to."""

    prefix: str
    mistyped: Mapping[str, str]
    others: tuple[str, ...]

    @property
    def error(self) -> str | None:
        """The message about mistyped variables; None if there are none."""
        if not self.mistyped:
            return None
        pairs = (f"{_shown(name)} (did you mean {known}?)" for name, known in self.mistyped.items())
        return f"Unknown variables: {join_limited(pairs)}. Rename or remove them. {self._remedy}"

    @property
    def warning(self) -> str | None:
        """The message about the others; None if there are none."""
        if not self.others:
            return None
        return f"Unknown variables have no effect: {join_limited(map(_shown, self.others))}. {self._remedy}"

    @property
    def _remedy(self) -> str:
        return f"If they are your own variables, list their names in {self.prefix}ignored_variables."


def names_of(prefix: str, options: Iterable[str], own: Iterable[str]) -> frozenset[str]:
    """Return the names of a role's variables, from the options of its action and what is the role's own."""
    return frozenset(f"{prefix}{name}" for name in (*_COMMON, *options, *own))


def unknown_variables(
    prefix: str, known: frozenset[str], variables: Iterable[str], ignored: Iterable[str]
) -> UnknownVariables:
    """Return the unknown ones among the names of all variables of a task. Their values are not read."""
    skipped = {*known, *ignored}
    unknown = sorted(str(name) for name in variables if name.startswith(prefix) and name not in skipped)
    mistyped = {name: nearest for name in unknown if (nearest := _nearest(name, known)) is not None}
    return UnknownVariables(prefix, mistyped, tuple(name for name in unknown if name not in mistyped))


def listed(value: Any) -> tuple[str, ...]:
    """Return the elements of a list option before Ansible has validated it: it may be a string with commas."""
    elements: Iterator[Any] = iter(value.split(",") if isinstance(value, str) else value or ())
    return tuple(str(element).strip() for element in elements)


def _nearest(name: str, known: Iterable[str]) -> str | None:
    return next(iter(get_close_matches(name[:MAX_CHARACTERS], known, n=1, cutoff=SIMILARITY)), None)


def _shown(name: str) -> str:
    """Return the name as a short text that a terminal can print."""
    text = name if name.isprintable() else ascii(name)
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 3]}..."
