# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of the Kafka image beside those of Debian, made of Maven's artifacts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .layer import Layer

_HERE = Path(__file__).parent
HOME = "opt/kafka"


def write_layer(jars: Iterable[Path], target: Path) -> None:
    """Write a tar file."""
    with Layer.written(target) as layer:
        layer.account("kafka", HOME)
        layer.text("kafka.sh", (_HERE / "kafka.sh").read_bytes(), executable=True)
        for jar in jars:
            layer.copy(jar, f"{HOME}/lib/{jar.name}")
