# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The text of the configuration. Its encoding is specified, never guessed. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any


class InvalidConfig(ValueError):
    """The text cannot be decoded. The message does not quote it."""


def decoded(text: str, is_base64: bool) -> str:
    """Return the configuration in a text; InvalidConfig if it is not Base64 of UTF-8."""
    if not is_base64:
        return text
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        raise InvalidConfig("is not Base64 of UTF-8 text. Correct it, or set configEncoding to Plain.") from None


def text_of(holder: Mapping[str, Any], key: str) -> str | None:
    """Return the text in a key of a ConfigMap or Secret, None if there is none; InvalidConfig if it is not UTF-8."""
    found = (holder.get("data") or {}).get(key)
    if found is None or holder["kind"] == "ConfigMap":
        return None if found is None else str(found)
    try:
        return base64.b64decode(found).decode("utf-8")
    except ValueError:
        raise InvalidConfig(f"key {key} is not UTF-8 text.") from None
