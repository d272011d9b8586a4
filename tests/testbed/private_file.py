# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that no other user of the machine can read."""

from __future__ import annotations

import os
from pathlib import Path


def private(path: Path) -> Path:
    """The path of a file that is there and that only its owner can read."""
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    return path
