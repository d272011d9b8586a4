# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The exception hierarchy, caught once, in the entry points. ``str(error)`` is the message."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.userinfo import without_userinfo

MAX_VALUE_LENGTH = 200
HIDDEN = object()
# The value of an option or a field that is missing.
NOT_SET = object()


class DruidError(Exception):
    """An error for the user. The message names the object, the cause and the remedy."""


class InvalidInput(DruidError):
    """An option, or a field of one, is invalid. ``value``: JSON; HIDDEN keeps a secret out of the message.

    User and password of a URL are masked.
    """

    def __init__(self, name: str, value: Any, remedy: str) -> None:
        self.name, self.remedy = name, remedy
        shown = "" if value is HIDDEN or value is NOT_SET else f" ({displayed(value)})"
        super().__init__(f"{name}{shown}: {without_userinfo(remedy)}")


class MissingRole(InvalidInput):
    """Roles of a user or a group mapping do not exist, yet or any more."""


def displayed(value: Any) -> str:
    """Return the value as YAML and JSON write it, not as Python does; a string in single quotes.

    Of a long one only its length: part of a secret would not be recognized, and masked, where the message is reported.
    """
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
    return without_userinfo(text) if len(text) <= MAX_VALUE_LENGTH else f"{len(text):,} characters"


class PartialFailure(DruidError):
    """Part of the work failed. ``result``: the module's result for the work that was done."""

    def __init__(self, message: str, result: dict[str, Any]) -> None:
        super().__init__(message)
        self.result = result


class UncertainState(DruidError):
    """A write failed, and the current state may differ from the previous one. The message describes it."""


class NotConnected(DruidError):
    """A supervisor has no connection to its stream: it would delay a request, and may drop it."""


def sentences(*parts: str) -> str:
    """Return the parts that are not empty, each with a final full stop."""
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts if part)


def truncate(text: str, length: int) -> str:
    """Return the text, truncated to ``length`` characters."""
    return text if len(text) <= length else f"{text[: length - 1]}…"
