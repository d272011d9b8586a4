# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images of a node's pods, made once per machine."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
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
DRUID_IMAGE = f"docker.io/apache/druid:{DEFAULT}"
KAFKA_IMAGE = f"docker.io/apache/kafka:{KAFKA_BROKER}"
# What Druid's start script uses, and a person who looks around in a container.
_PACKAGES = (
    *("base-files", "base-passwd", "bash", "dash", "coreutils", "sed", "grep", "mawk", "findutils", "hostname"),
    *("procps", "libc-bin", "netbase", "tzdata", "curl", "ca-certificates", "ca-certificates-java"),
)
_HOME = "/opt/druid"


def images() -> Path:
    """A file with all images, from the cache or made now."""
    artifacts = druid_artifacts(version())
    servers, brokers = _jars(artifacts.druid), _jars(artifacts.kafka)
    chosen = packages.closure([*_PACKAGES, packages.package_of(Path(java()).resolve())], packages.installed())
    target = cache_directory() / f"images-{_key(chosen, [*servers, *brokers])}.tar"
    if not target.exists():
        with lock(target):
            if not target.exists():
                say("making the images of the node's pods: half a minute, once per machine")
                _make(chosen, servers, brokers, target)
    return target


def _jars(class_path: str) -> list[Path]:
    return [Path(each) for each in class_path.split(os.pathsep) if each.endswith(".jar")]


def _key(chosen: Iterable[packages.Package], jars: Iterable[Path]) -> str:
    contents = [f"{package.name} {package.version}" for package in chosen] + [jar.name for jar in jars]
    sources = [file.read_text() for file in sorted(Path(__file__).parent.iterdir()) if file.is_file()]
    return hashlib.sha256("\n".join([*contents, *sources]).encode()).hexdigest()[:12]


def _make(chosen: Iterable[packages.Package], servers: Iterable[Path], brokers: Iterable[Path], target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as directory:
        names = ("base.tar", "druid.tar", "kafka.tar", "images.tar")
        base, of_druid, of_kafka, whole = (Path(directory) / name for name in names)
        packages.write_layer(chosen, base)
        druid.write_layer(servers, version().extensions, of_druid)
        kafka.write_layer(brokers, of_kafka)
        server = Image(DRUID_IMAGE, (base, of_druid), ("/druid.sh",), _HOME, str(USER))
        broker = Image(KAFKA_IMAGE, (base, of_kafka), ("/kafka.sh",), f"/{kafka.HOME}", str(USER))
        # it only keeps the network of a pod
        sandbox = Image(SANDBOX_IMAGE, (base,), ("/usr/bin/sleep", "infinity"))
        archive.write((server, broker, sandbox), whole)
        whole.rename(target)
