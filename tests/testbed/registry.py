# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A registry of OCI artifacts on loopback, with TLS and one user."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .build import build_tool
from .ports import reserved_ports
from .private_file import private
from .processes import Processes

_MODULE = Path(__file__).parent / "registry_program"
_USER, _PASSWORD = "reader", "secret-of-the-registry"


@dataclass(frozen=True)
class Registry:
    """Its address, and a file with the credentials in the format of Docker."""

    address: str
    credentials: Path


def program() -> Path:
    """The program of the registry."""
    return build_tool("registry", _MODULE, minutes=1)


@contextmanager
def registry(directory: Path, certificate: Path, key: Path) -> Iterator[Registry]:
    """A registry with this certificate; its files are in the directory."""
    directory.mkdir()
    processes = Processes(directory)
    with reserved_ports(1) as [port]:
        address = f"127.0.0.1:{port}"
        words = [str(program()), address, str(certificate), str(key), _USER, _PASSWORD]
        processes.start("registry", words, detached=False)
        try:
            processes.wait_for("the registry", lambda: _listens(port), not_yet=(OSError,))
            yield Registry(address, _credentials(directory, address))
        finally:
            processes.kill()


def _listens(port: int) -> bool:
    socket.create_connection(("127.0.0.1", port), timeout=1).close()
    return True


def _credentials(directory: Path, address: str) -> Path:
    file = private(directory / "credentials.json")
    login = base64.b64encode(f"{_USER}:{_PASSWORD}".encode()).decode()
    file.write_text(json.dumps({"auths": {address: {"auth": login}}}), encoding="utf-8")
    return file
