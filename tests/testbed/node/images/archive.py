# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes images as `docker save` does, which containerd imports."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_TIME = "1970-01-01T00:00:00Z"
_ENVIRONMENT = ("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8")


@dataclass(frozen=True)
class Image:
    """An image: its layers are tar files."""

    name: str
    layers: Sequence[Path]
    entrypoint: Sequence[str]
    directory: str = "/"
    user: str = ""
    environment: Sequence[str] = field(default=_ENVIRONMENT)
    aliases: Sequence[str] = ()


def write(images: Iterable[Image], target: Path) -> None:
    """Write the images into one file; a layer of several is there once."""
    manifest: list[dict[str, Any]] = []
    layers: dict[Path, str] = {}
    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as archive:
        for image in images:
            for layer in image.layers:
                if layer not in layers:
                    layers[layer] = _digest(layer)
                    archive.add(layer, f"{layers[layer]}/layer.tar")
            digests = [layers[layer] for layer in image.layers]
            configuration = json.dumps(_configuration(image, digests)).encode()
            name = f"{hashlib.sha256(configuration).hexdigest()}.json"
            _add(archive, name, configuration)
            files = [f"{digest}/layer.tar" for digest in digests]
            manifest.append({"Config": name, "RepoTags": [image.name, *image.aliases], "Layers": files})
        _add(archive, "manifest.json", json.dumps(manifest).encode())


def _configuration(image: Image, digests: Iterable[str]) -> dict[str, Any]:
    layers = [f"sha256:{digest}" for digest in digests]
    return {
        "architecture": "amd64",
        "os": "linux",
        "created": _TIME,
        "config": {
            "Env": list(image.environment),
            "Entrypoint": list(image.entrypoint),
            "WorkingDir": image.directory,
            "User": image.user,
        },
        "rootfs": {"type": "layers", "diff_ids": layers},
        "history": [{"created": _TIME} for _layer in layers],
    }


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))
