# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""
The operator's image, as its Dockerfile builds it, from what is on this machine instead of a registry.

Debian takes the place of the base image, the virtual environment of tests/requirements/operator.txt that of its Python
packages, and a script that of tini.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ...cache import cache_directory, lock
from ...dockerfile import Dockerfile
from ...progress import say
from . import archive, interpreter, packages
from .archive import Image
from .layer import Layer

_TESTBED = Path(__file__).parents[2]
_PACKAGES = ("base-files", "base-passwd", "bash", "dash", "coreutils", "sed", "grep", "libc-bin", "netbase", "tzdata")
_PROGRAM = "usr/local/bin/ansible-operator"
_STAND_IN = "opt/test-bed"
# The program after it is process 1, and collects processes without parents itself.
_TINI = b'#!/bin/sh\nshift\nexec "$@"\n'


@dataclass(frozen=True)
class Contents:
    """What the image is made of: the files of /opt/ansible, the operator's program (none: its stand-in), and Helm."""

    layout: Path
    virtual: Path
    program: Path | None
    helm: Path


def image(name: str, dockerfile: Path, contents: Contents, target: Path) -> Path:
    """Write a file with the image; what does not change with this checkout is from the cache."""
    final = Dockerfile.read(dockerfile).final
    files = target.with_name("files.tar")
    with Layer.written(files) as layer:
        _write(layer, contents, Path(final.all("WORKDIR")[-1]))
    variables = [f"{key}={text}" for key, text in final.environment.items()]
    settings = (final.entrypoint, final.all("WORKDIR")[-1], final.all("USER")[-1], variables)
    archive.write([Image(name, (*_base(contents), files), *settings)], target)
    files.unlink()
    return target


def _write(layer: Layer, contents: Contents, home: Path) -> None:
    layer.text("tini", _TINI, executable=True)
    layer.parents(str(home).lstrip("/"))
    layer.tree(contents.layout, str(home).lstrip("/"))
    layer.copy(contents.helm, "usr/local/bin/helm")
    if contents.program:
        layer.copy(contents.program, _PROGRAM)
        return
    python = contents.virtual / "bin" / "python"
    text = f"#!{python}\nimport sys\nsys.path.insert(0, '/{_STAND_IN}')\n"
    text += "from testbed.operator.in_pod import main\nsys.exit(main())\n"
    layer.text(_PROGRAM, text.encode(), executable=True)
    for file in [*_TESTBED.glob("*.py"), *(_TESTBED / "operator").glob("*.py")]:
        layer.copy(file, f"{_STAND_IN}/testbed/{file.relative_to(_TESTBED)}")


def _base(contents: Contents) -> tuple[Path, Path]:
    """The layers of Debian and of Python."""
    chosen = packages.closure(_PACKAGES, packages.installed())
    programs = [contents.program] if contents.program else []
    parts = [f"{each.name} {each.version}" for each in chosen] + [str(contents.virtual), str(programs)]
    sources = [file.read_text() for file in sorted(Path(__file__).parent.glob("*.py"))]
    key = hashlib.sha256("\n".join([*parts, *sources]).encode()).hexdigest()[:12]
    found = cache_directory() / f"operator-layers-{key}"
    if not found.exists():
        with lock(found):
            if not found.exists():
                say("preparing the operator's image: half a minute, once per machine")
                unfinished = found.with_suffix(".new")
                unfinished.mkdir(exist_ok=True)
                packages.write_layer(chosen, unfinished / "debian.tar")
                interpreter.write_layer(contents.virtual, programs, unfinished / "python.tar")
                unfinished.rename(found)
    return found / "debian.tar", found / "python.tar"
