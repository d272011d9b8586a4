# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Users and passwords in URLs (the userinfo): masked where a message quotes the value of an option or field. Pure."""

from __future__ import annotations

import re

_MASK = "********"
# The quantifiers are limited, because the time would be the square of the length of a value in a resource.
# https://user:password@host, https://token@host; not https?://[^/@]+, the pattern of an address
_OF_URL = r"(?<=//)[^\s@/?#\[(]\S{0,4000}@(?=\S)"
# user:password@host; not the digest of an image
_BARE = r"(?<![^\s\"'({\[,=])[^\s\"'({\[,=:@/]{1,200}:(?:(?!//)[^\s@]){1,500}@(?=[^\s@\"'])(?!sha256:)"
_USERINFO = re.compile(f"{_OF_URL}|{_BARE}")
_BETWEEN_WORDS = re.compile(r"(\s+)")


def without_userinfo(text: str) -> str:
    """Return the text, such as a quoted value or an error message with one, with the userinfo of URLs masked."""
    if "@" not in text:
        return text
    words = _BETWEEN_WORDS.split(text)
    return "".join(_USERINFO.sub(f"{_MASK}@", word) if "@" in word else word for word in words)
