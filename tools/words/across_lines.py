# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Terms of several words, which a text may have on two lines."""

from __future__ import annotations

import re

_KEY = re.compile(r"^  '[^']+'(?=:)", re.MULTILINE)
_BETWEEN_WORDS = r"(?:[ \t]+|[ \t]*\n[ \t]*)"


def across_lines(terms: str) -> str:
    """Return the terms, the content of Terms.yml, as patterns that also match at the end of a line."""
    return _KEY.sub(lambda key: key[0][:3] + key[0][3:].replace(" ", _BETWEEN_WORDS), terms)
