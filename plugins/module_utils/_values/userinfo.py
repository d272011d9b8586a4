# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Users and passwords in URLs (the userinfo): masked where a message quotes the value of an option or field. Pure."""

from __future__ import annotations

import re

_MASK = "********"
# https://user:password@host, https://token@host; not https?://[^/@]+, the pattern of an address
_OF_URL = r"(?<=//)[^\s@/?#\[(][^\s]*@(?=\S)"
# user:password@host; not the digest of an image
_BARE = r"(?<![^\s\"'({\[,=])[^\s\"'({\[,=:@/]+:(?:(?!//)[^\s@])+@(?=[^\s@\"'])(?!sha256:)"
_USERINFO = re.compile(f"{_OF_URL}|{_BARE}")


def without_userinfo(text: str) -> str:
    """Return the text, such as a quoted value or an error message with one, with the userinfo of URLs masked."""
    return _USERINFO.sub(_MASK + "@", text)
