# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of the OpenTelemetry Collector: one program, at the path and with the user of the contrib distribution."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from ...cache import cache_directory, lock
from ...opentelemetry import program
from . import archive
from .archive import Image
from .layer import Layer

_PROGRAM = "otelcol-contrib"
_USER = "10001"


def image(name: str) -> Path:
    """A file with the image, from the cache or made now. Only few tests need it: it is not among those of each node."""
    built = program()
    key = hashlib.sha256("\n".join([name, built.name, Path(__file__).read_text()]).encode()).hexdigest()[:12]
    target = cache_directory() / f"image-collector-{key}.tar"
    if not target.exists():
        with lock(target):
            if not target.exists():
                _make(name, built, target)
    return target


def _make(name: str, built: Path, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as directory:
        files, whole = Path(directory, "layer.tar"), Path(directory, "image.tar")
        with Layer.written(files) as layer:
            layer.copy(built, _PROGRAM)
        archive.write([Image(name, (files,), (f"/{_PROGRAM}",), user=_USER)], whole)
        whole.rename(target)
