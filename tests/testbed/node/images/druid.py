# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of the Druid image beside those of Debian: as the official image has them, made of Maven's artifacts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .layer import Layer

_HERE = Path(__file__).parent
_HOME = "opt/druid"
# Where the official image has its configuration, which mounts of ConfigMaps hide.
_CONFIGURATION = f"{_HOME}/conf/druid/cluster/_common/log4j2.xml"
_WRITABLE = (f"{_HOME}/var", f"{_HOME}/var/tmp", "opt/shared")


def write_layer(jars: Iterable[Path], extensions: Iterable[str], target: Path) -> None:
    """Write a tar file; the jar of an extension is in its directory, and what it needs beside Druid's own."""
    with Layer.written(target) as layer:
        layer.account("druid", _HOME)
        layer.text("druid.sh", (_HERE / "druid.sh").read_bytes(), executable=True)
        layer.text(_CONFIGURATION, (_HERE / "log4j2.xml").read_bytes())
        for path in _WRITABLE:
            layer.writable(path)
        for jar in jars:
            layer.copy(jar, _place(jar, set(extensions)))


def _place(jar: Path, extensions: set[str]) -> str:
    # .../GROUP/NAME/VERSION/NAME-VERSION.jar
    name = jar.parents[1].name
    directory = f"extensions/{name}" if name in extensions else "lib"
    return f"{_HOME}/{directory}/{jar.name}"
