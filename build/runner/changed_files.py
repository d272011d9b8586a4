# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the loaded files are still the same, and whether their bytecode belongs to them.

The image's bytecode is not compared with its source (PEP 552, unchecked): a changed file would have no effect.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from importlib.util import cache_from_source, source_hash

Files = Mapping[str, tuple[int, int]]
# The header of bytecode: a magic number, flags, and a hash of the source.
_MAGIC, _HEADER = 4, 16
_HASH_BASED = 0b01
_OURS = "ansible_collections.druidops."


def loaded_files() -> Files:
    """The source files of the loaded modules of this collection and of this program, and Ansible's configuration file.

    With each, when it was changed.
    """
    names = (each for each in [*sys.modules] if each.startswith((_OURS, f"{__package__}.")))
    files = {getattr(sys.modules[name], "__file__", None) for name in names}
    return {file: state(file) for file in (*files, _configuration()) if file}


def _configuration() -> str | None:
    """The file, if Ansible has been imported and has found one; it reads the file once."""
    constants = sys.modules.get("ansible.constants")
    return getattr(constants, "CONFIG_FILE", None)


def is_changed(files: Files) -> bool:
    """True if a file has changed, or is not there any more."""
    return any(state(file) != before for file, before in files.items())


def state(file: str) -> tuple[int, int]:
    """What changes with a file: its time and size."""
    try:
        found = os.stat(file)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def outdated_bytecode(files: Files) -> str:
    """Why the loaded bytecode is not that of the files, empty if it is; bytecode without a hash has been compared."""
    found = sorted(_outdated(files))
    if not found:
        return ""
    more = f" and {len(found) - 1} more" if found[1:] else ""
    directory = os.path.dirname(found[0])
    remedy = f"compile it: python3 -m compileall -f {directory}"
    return f"{found[0]}{more} has changed after its bytecode was compiled; {remedy}"


def _outdated(files: Files) -> Iterator[str]:
    for file in files:
        try:
            with open(cache_from_source(file), "rb") as cached:
                header = cached.read(_HEADER)
            with open(file, "rb") as source:
                text = source.read()
        except (OSError, NotImplementedError):
            continue
        flags = int.from_bytes(header[_MAGIC : 2 * _MAGIC], "little")
        if flags & _HASH_BASED and header[2 * _MAGIC :] != source_hash(text):
            yield file
