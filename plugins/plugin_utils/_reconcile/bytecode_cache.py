# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Cache the bytecode of our modules: Ansible's importer compiles a collection's files in every run.

Python's own importer caches bytecode (PEP 3147), where the file system is writable. Action plugins import this first.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from types import ModuleType

# Ansible finds the packages themselves.
_PLUGINS = __name__.rpartition(".plugin_utils.")[0]
_PREFIXES = (f"{_PLUGINS}.plugin_utils.", f"{_PLUGINS}.module_utils.")


class Finder:
    """Finds our modules where Ansible finds them; Python loads them."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of one of our modules; None for any other module."""
        if not fullname.startswith(_PREFIXES):
            return None
        found = (_in_directory(directory).find_spec(fullname, target) for directory in path or ())
        return next((spec for spec in found if spec), None)


@cache
def _in_directory(directory: str) -> FileFinder:
    return FileFinder(directory, (SourceFileLoader, SOURCE_SUFFIXES))


def _install() -> None:
    """Insert the finder before Ansible's importer, if that is in use."""
    for place, finder in enumerate(sys.meta_path):
        if type(finder).__name__ == "_AnsibleCollectionFinder":
            sys.meta_path.insert(place, Finder)
            break


_install()
