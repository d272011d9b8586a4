# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Python with the packages of a virtual environment, as a layer of an image: at its paths on this machine."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from .layer import Layer

# What only those need who develop Python, and packages beside the virtual environment.
_LEFT_OUT = re.compile(r"/python3\.\d+/(test|idlelib|tkinter|ensurepip|config-[^/]*|site-packages|dist-packages)(/|$)")
_LIBRARY = re.compile(r"=> (/\S+)")
_PROGRAMS = "usr/local/bin"


def write_layer(virtual: Path, programs: Iterable[Path], target: Path) -> None:
    """Write a tar file with the interpreter, the virtual environment, and the libraries of both and of the programs.

    The programs of the virtual environment are on the PATH of the image.
    """
    python = (virtual / "bin" / "python").resolve()
    library = python.parents[1] / "lib" / python.name
    with Layer.written(target) as layer:
        links = list(_links(virtual / "bin" / "python"))
        for path in (library, virtual, python, *links):
            layer.parents(_inside(path))
        for link in links:
            layer.link(_inside(link), os.readlink(link))
        layer.copy(python, _inside(python))
        layer.tree(library, _inside(library), _LEFT_OUT)
        layer.tree(virtual, _inside(virtual))
        for each in (virtual / "bin").iterdir():
            if each.name.startswith("ansible"):
                layer.link(f"{_PROGRAMS}/{each.name}", str(each))
        binaries = [python, *programs, *library.rglob("*.so"), *virtual.rglob("*.so*")]
        for path in _libraries(binaries):
            layer.copy(path.resolve(), _inside(path))


def _inside(path: Path) -> str:
    return str(path).lstrip("/")


def _links(path: Path) -> Iterable[Path]:
    """The links that lead from a path to its file, outside of its directory."""
    first = path.parent
    while path.is_symlink():
        path = path.parent / os.readlink(path)
        if path.parent != first and path.is_symlink():
            yield path


def _libraries(binaries: Iterable[Path]) -> list[Path]:
    """The shared libraries that they need, by the name with which they are loaded, without links to directories."""
    command = ["ldd", *map(str, binaries)]
    # it fails if one of them is static
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = {Path(text) for text in _LIBRARY.findall(output)}
    return sorted({path.parent.resolve() / path.name for path in found})
