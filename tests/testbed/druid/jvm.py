# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The JVMs that Druid runs in, and their command lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..private_file import private
from .artifacts import Artifacts, java
from .settings import DRUID_SERVERS, FLAGS, SECOND_SERVERS, SERVERS, Layout


@dataclass(frozen=True)
class Jvm:
    """A process: the servers that it runs, in the order of their start, and its heap in MB."""

    name: str
    servers: tuple[str, ...]
    heap: int


# MSQ requires 400 MB to ingest anything.
TOGETHER = (Jvm("druid", SERVERS, 448),)
# So that one can be killed while the others live.
APART = (
    Jvm("kafka", ("kafka",), 160),
    Jvm("zookeeper", ("zookeeper",), 48),
    Jvm("coordinator", ("coordinator",), 160),
    Jvm("data", DRUID_SERVERS[1:], 448),
)
# So that each server can be restarted as on machines of its own.
SPREAD = (*APART[:3], *(Jvm(name, (name,), 256) for name in (*SECOND_SERVERS, *DRUID_SERVERS[1:])))
JVMS = {"together": TOGETHER, "apart": APART, "spread": SPREAD}


def write_arguments(jvm: Jvm, layout: Layout, artifacts: Artifacts, stores_password: str | None) -> None:
    """Write the arguments of a JVM, which are long and may contain a password, to a file."""
    stores = _stores(layout, stores_password) if stores_password else ()
    arguments = [*_arguments(jvm, layout, artifacts), *stores]
    private(_file(jvm, layout)).write_text("".join(f"{quoted(each)}\n" for each in arguments))


def command(jvm: Jvm, layout: Layout) -> list[str]:
    """The command line of a JVM, whose arguments are in their file."""
    return [java(), f"@{_file(jvm, layout)}", "Launcher", str(layout.directory), *jvm.servers]


def quoted(argument: str) -> str:
    """An argument as Java reads it from a file."""
    escaped = argument.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _arguments(jvm: Jvm, layout: Layout, artifacts: Artifacts) -> Iterator[str]:
    here = layout.directory
    yield f"-Xmx{jvm.heap}m"
    yield from FLAGS
    yield f"-Djava.io.tmpdir={here}/tmp"
    yield f"-Dderby.stream.error.file={here}/derby.log"
    yield f"-Dlog4j.configurationFile={Path(__file__).parent}/log4j2.xml"
    yield f"-Dtestbed.kafka.class.path={artifacts.kafka}"
    yield from ("-cp", artifacts.druid)


def _stores(layout: Layout, password: str) -> Iterator[str]:
    certificates = layout.certificates
    for name, store in (("trustStore", certificates.trust_store), ("keyStore", certificates.key_store)):
        yield f"-Djavax.net.ssl.{name}={store}"
        yield f"-Djavax.net.ssl.{name}Type=PKCS12"
        yield f"-Djavax.net.ssl.{name}Password={password}"


def _file(jvm: Jvm, layout: Layout) -> Path:
    return layout.directory / f"{jvm.name}.arguments"
