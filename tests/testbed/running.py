# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all have in common that run in a directory of their own and can be found again there."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, Self

from .node import leftovers
from .processes import Processes

# The file by which a directory of each kind is known.
CONTROL_PLANE = "control-plane.json"
DRUID = "druid.json"
STATES = (CONTROL_PLANE, DRUID)


class Running(ABC):
    """Processes of one directory; leaving it as a context manager stops them."""

    STATE: ClassVar[str]

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._processes = Processes(directory)

    @classmethod
    @abstractmethod
    def _recorded(cls, directory: Path) -> Self | None:
        """What was started in this directory, whether it still runs or not."""

    @abstractmethod
    def _names(self) -> set[str]:
        """The processes that it is complete with."""

    @classmethod
    def find(cls, directory: Path) -> Self | None:
        """What runs in this directory, complete, or None."""
        found = cls._recorded(directory.resolve())
        if found is None or {process.name for process in found._processes.running()} != found._names():
            return None
        return found

    @classmethod
    def remove(cls, directory: Path) -> bool:
        """Stop what runs in this directory and take the directory away; whether there was one."""
        return remove(directory, cls.STATE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Kill every process: the data are not worth a farewell."""
        self._processes.kill()
        leftovers.remove(self.directory)


def remove(directory: Path, *states: str) -> bool:
    """Stop what runs in a directory that has one of these files and take the directory away; whether it has one."""
    if not any((directory / state).exists() for state in states):
        return False
    Processes(directory).kill()
    leftovers.remove(directory)
    shutil.rmtree(directory)
    return True
