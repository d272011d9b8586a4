# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A layer of an image: files that belong to root, and directories of the user of its servers."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

USER = 1000


@dataclass(frozen=True)
class Layer:
    """One that is being written; paths are without the first slash."""

    _archive: tarfile.TarFile

    @classmethod
    @contextmanager
    def written(cls, target: Path) -> Iterator[Layer]:
        """A new one in this tar file."""
        with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as archive:
            yield cls(archive)

    def text(self, path: str, content: bytes, *, executable: bool = False) -> None:
        """Add a file."""
        entry = tarfile.TarInfo(path)
        entry.size, entry.mode = len(content), 0o755 if executable else 0o644
        self._archive.addfile(entry, io.BytesIO(content))

    def copy(self, source: Path, path: str) -> None:
        """Add the content of a file."""
        self._archive.add(source, path, filter=_as_root)

    def tree(self, source: Path, path: str, left_out: re.Pattern[str] | None = None) -> None:
        """Add a directory with its content and its times, by which Python knows whether its bytecode is up to date."""

        def chosen(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
            time = entry.mtime
            if left_out and left_out.search(entry.name):
                return None
            _as_root(entry).mtime = time
            return entry

        self._archive.add(source, path, filter=chosen)

    def parents(self, path: str) -> None:
        """Add the directories that a path is in, which every user may enter."""
        for parent in reversed(Path(path).parents[:-1]):
            entry = tarfile.TarInfo(str(parent))
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            self._archive.addfile(entry)

    def link(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        entry = tarfile.TarInfo(path)
        entry.type, entry.linkname = tarfile.SYMTYPE, target
        self._archive.addfile(entry)

    def writable(self, path: str) -> None:
        """Add a directory that servers write to."""
        entry = tarfile.TarInfo(path)
        entry.type, entry.mode, entry.uid, entry.gid = tarfile.DIRTYPE, 0o777, USER, USER
        self._archive.addfile(entry)

    def account(self, name: str, home: str) -> None:
        """Add the user of the servers, beside root."""
        users = f"root:x:0:0:root:/root:/bin/bash\n{name}:x:{USER}:{USER}:{name}:/{home}:/bin/bash\n"
        self.text("etc/passwd", users.encode())
        self.text("etc/group", f"root:x:0:\n{name}:x:{USER}:\n".encode())


def _as_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry
