# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Long values as short texts: the first elements of a list, and digests of documents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

MAX_SHOWN = 5
MAX_VALUE_CHARACTERS = 80


def join_limited(texts: Iterable[str], separator: str = ", ") -> str:
    """Return the first texts, and the number of the others."""
    found = [*texts]
    shown = separator.join(found[:MAX_SHOWN])
    return shown if len(found) <= MAX_SHOWN else f"{shown}{separator}and {len(found) - MAX_SHOWN} more"


def shown(value: Any) -> str:
    """Return the beginning of a value in one line; None is a missing one."""
    if value is None:
        return "(none)"
    text = " ".join(str(value).split())
    return text if len(text) <= MAX_VALUE_CHARACTERS else f"{text[: MAX_VALUE_CHARACTERS - 3]}..."


def digest(specified: Any) -> str:
    """Return the SHA-256 of a JSON document, independent of the order of its fields."""
    text = json.dumps(specified, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
