# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The directory of a running control plane or Druid: it contains nothing else."""

from __future__ import annotations

from pathlib import Path


class DirectoryError(RuntimeError):
    """A directory with other files."""


def empty_directory(directory: Path) -> Path:
    """The directory, which is made if need be; its absolute path."""
    directory = directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    if any(directory.iterdir()):
        raise DirectoryError(f"{directory} holds other files; choose an empty directory")
    return directory
