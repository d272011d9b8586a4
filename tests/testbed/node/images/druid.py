# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of the Druid image beside those of Debian: as the official image has them, made of Maven's artifacts."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable
from pathlib import Path

_HERE = Path(__file__).parent
_HOME = "opt/druid"
USER = 1000
# Where the official image has its configuration, which mounts of ConfigMaps hide.
_CONFIGURATION = f"{_HOME}/conf/druid/cluster/_common/log4j2.xml"
_ACCOUNTS = {
    "etc/passwd": f"root:x:0:0:root:/root:/bin/bash\ndruid:x:{USER}:{USER}:druid:/{_HOME}:/bin/bash\n",
    "etc/group": f"root:x:0:\ndruid:x:{USER}:\n",
}
_WRITABLE = (f"{_HOME}/var", f"{_HOME}/var/tmp", "opt/shared")


def write_layer(jars: Iterable[Path], extensions: Iterable[str], target: Path) -> None:
    """Write a tar file; the jar of an extension is in its directory, and what it needs beside Druid's own."""
    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as layer:
        for name, content in _ACCOUNTS.items():
            _add(layer, name, content.encode(), 0o644)
        _add(layer, "druid.sh", (_HERE / "druid.sh").read_bytes(), 0o755)
        _add(layer, _CONFIGURATION, (_HERE / "log4j2.xml").read_bytes(), 0o644)
        for name in _WRITABLE:
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode, entry.uid, entry.gid = tarfile.DIRTYPE, 0o777, USER, USER
            layer.addfile(entry)
        for jar in jars:
            layer.add(jar, _place(jar, set(extensions)), filter=_as_root)


def _place(jar: Path, extensions: set[str]) -> str:
    # .../GROUP/NAME/VERSION/NAME-VERSION.jar
    name = jar.parents[1].name
    directory = f"extensions/{name}" if name in extensions else "lib"
    return f"{_HOME}/{directory}/{jar.name}"


def _as_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def _add(layer: tarfile.TarFile, name: str, content: bytes, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    layer.addfile(entry, io.BytesIO(content))
