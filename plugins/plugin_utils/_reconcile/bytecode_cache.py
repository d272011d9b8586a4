# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Byte code for what is imported after this: Ansible's importer has Python compile a collection's files in every run.

Python's own importer keeps what it has compiled (PEP 3147); where nothing can be written it compiles, too. Action
plugins import this before the rest of ours.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from types import ModuleType

# The packages themselves are Ansible's to find.
_PLUGINS = __name__.rpartition(".plugin_utils.")[0]
_PREFIXES = (f"{_PLUGINS}.plugin_utils.", f"{_PLUGINS}.module_utils.")


class Finder:
    """Finds our modules where Ansible finds them, for Python to load."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how a module of ours is loaded; None for any other, which others find."""
        if not fullname.startswith(_PREFIXES):
            return None
        found = (_in_directory(directory).find_spec(fullname, target) for directory in path or ())
        return next((spec for spec in found if spec), None)


@cache
def _in_directory(directory: str) -> FileFinder:
    return FileFinder(directory, (SourceFileLoader, SOURCE_SUFFIXES))


def _install() -> None:
    """Be asked before Ansible's importer; where that is not in use Python's own is."""
    for place, finder in enumerate(sys.meta_path):
        if type(finder).__name__ == "_AnsibleCollectionFinder":
            sys.meta_path.insert(place, Finder)
            break


_install()
