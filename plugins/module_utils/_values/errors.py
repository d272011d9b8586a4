# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What can go wrong: one hierarchy, caught once, at the edge. ``str(error)`` is the message."""

from __future__ import annotations

from typing import Any

MAX_VALUE_LENGTH = 200
HIDDEN = object()


class DruidError(Exception):
    """Something that a person has to be told. The text names the object, what happened and what to do."""


class InvalidInput(DruidError):
    """An option, or a field of one, cannot be used. A secret is named by ``value=HIDDEN``."""

    def __init__(self, name: str, value: Any, remedy: str) -> None:
        self.name, self.remedy = name, remedy
        displayed = "" if value is HIDDEN else f" ({truncate(repr(value), MAX_VALUE_LENGTH)})"
        super().__init__(f"{name}{displayed}: {remedy}")


class PartialFailure(DruidError):
    """Some of the work could not be done. ``result``: what was, in the form of the module's result."""

    def __init__(self, message: str, result: dict[str, Any]) -> None:
        super().__init__(message)
        self.result = result


class UncertainState(DruidError):
    """A write failed, and what is there now is not what was there before. The text tells what is."""


class NotConnected(DruidError):
    """A supervisor has no connection to its stream: it would not do now what it is asked for, and may never do it."""


def sentences(*parts: str) -> str:
    """Return the parts that are not empty, each ended by a full stop."""
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts if part)


def truncate(text: str, length: int) -> str:
    """Return the text, cut to so many characters."""
    return text if len(text) <= length else f"{text[: length - 1]}…"
