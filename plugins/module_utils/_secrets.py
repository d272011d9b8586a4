# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secrets do not come back: Druid's words about a request are masked before they are shown. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

MASK = "********"
# Shorter ones would blot out ordinary words.
SHORTEST_SECRET = 4

_NAME = re.compile(
    r"password|passwd|passphrase|secret|token|credential|jaas|(?:access|private|api)[._-]?key", re.IGNORECASE
)


def secrets_in(document: Any, is_secret: bool = False) -> Iterator[str]:
    """Yield each text in a JSON document whose name, or that of something around it, says that it is a secret."""
    if isinstance(document, Mapping):
        for name, value in document.items():
            yield from secrets_in(value, is_secret or bool(_NAME.search(str(name))))
    elif isinstance(document, list | tuple):
        for value in document:
            yield from secrets_in(value, is_secret)
    elif is_secret and isinstance(document, str):
        yield document


def without(text: str, secrets: Iterable[str]) -> str:
    """Return the text with every secret, plain or as a JSON string has it, replaced by asterisks."""
    plain = {secret for secret in secrets if len(secret) >= SHORTEST_SECRET}
    forms = plain | {json.dumps(secret, ensure_ascii=escaped)[1:-1] for secret in plain for escaped in (True, False)}
    for secret in sorted(forms, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text
