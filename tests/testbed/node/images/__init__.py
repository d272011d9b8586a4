# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images of a node's pods, made once per machine."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ...cache import cache_directory, lock
from ...druid.artifacts import build as druid_artifacts
from ...druid.artifacts import java
from ...druid.versions import DEFAULT, KAFKA_BROKER, version
from ...progress import say
from ..configuration import SANDBOX_IMAGE
from . import archive, druid, kafka, packages
from .archive import Image
from .layer import USER

# Registries' full names: a pod that names one without a host means docker.io.
KAFKA_IMAGE = f"docker.io/apache/kafka:{KAFKA_BROKER}"
# What Druid's start script uses, and a person who looks around in a container.
_PACKAGES = (
    *("base-files", "base-passwd", "bash", "dash", "coreutils", "sed", "grep", "mawk", "findutils", "hostname"),
    *("procps", "libc-bin", "netbase", "tzdata", "curl", "ca-certificates", "ca-certificates-java"),
)
_HOME = "/opt/druid"
# The same image by another tag, for a rollout that needs no second release of Druid.
_REBUILT = "-rebuilt"


def druid_image(release: str = DEFAULT) -> str:
    """The name of the image of a release."""
    return f"docker.io/apache/druid:{release}"


def images() -> Path:
    """A file with all images, from the cache or made now."""
    artifacts = druid_artifacts(version())
    servers, brokers = _jars(artifacts.druid), _jars(artifacts.kafka)
    return _kept("images", [*servers, *brokers], lambda base, directory: _all(base, servers, brokers, directory))


def of_release(release: str) -> Path:
    """A file with the image of another release of Druid. Only few tests need it: it is not among those of each node."""
    servers = _jars(druid_artifacts(version(release)).druid)
    return _kept(
        f"image-druid-{release}", servers, lambda base, directory: [_server(release, servers, base, directory)]
    )


def _jars(class_path: str) -> list[Path]:
    return [Path(each) for each in class_path.split(os.pathsep) if each.endswith(".jar")]


def _kept(name: str, jars: Sequence[Path], make: Callable[[Path, Path], Iterable[Image]]) -> Path:
    """Images of the files of Debian and of jars; they are made of both, by the layer of the former and a directory."""
    chosen = packages.closure([*_PACKAGES, packages.package_of(Path(java()).resolve())], packages.installed())
    target = cache_directory() / f"{name}-{_key(chosen, jars)}.tar"
    if not target.exists():
        with lock(target):
            if not target.exists():
                say("making images of the node's pods: half a minute, once per machine")
                with tempfile.TemporaryDirectory(dir=target.parent) as directory:
                    base, whole = Path(directory, "base.tar"), Path(directory, "images.tar")
                    packages.write_layer(chosen, base)
                    archive.write(make(base, Path(directory)), whole)
                    whole.rename(target)
    return target


def _key(chosen: Iterable[packages.Package], jars: Iterable[Path]) -> str:
    contents = [f"{package.name} {package.version}" for package in chosen] + [jar.name for jar in jars]
    sources = [file.read_text() for file in sorted(Path(__file__).parent.iterdir()) if file.is_file()]
    return hashlib.sha256("\n".join([*contents, *sources]).encode()).hexdigest()[:12]


def _all(base: Path, servers: Iterable[Path], brokers: Iterable[Path], directory: Path) -> tuple[Image, ...]:
    of_kafka = directory / "kafka.tar"
    kafka.write_layer(brokers, of_kafka)
    broker = Image(KAFKA_IMAGE, (base, of_kafka), ("/kafka.sh",), f"/{kafka.HOME}", str(USER))
    # it only keeps the network of a pod
    sandbox = Image(SANDBOX_IMAGE, (base,), ("/usr/bin/sleep", "infinity"))
    return _server(DEFAULT, servers, base, directory), broker, sandbox


def _server(release: str, jars: Iterable[Path], base: Path, directory: Path) -> Image:
    of_druid = directory / "druid.tar"
    druid.write_layer(jars, version(release).extensions, of_druid)
    aliases = [druid_image(release + _REBUILT)]
    return Image(druid_image(release), (base, of_druid), ("/druid.sh",), _HOME, str(USER), aliases=aliases)
