# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Digest of a JSON document."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def digest(specified: Any) -> str:
    """Return the SHA-256 of a JSON document, independent of the order of its fields."""
    text = json.dumps(specified, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
