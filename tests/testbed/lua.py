# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Lua of Argo CD, in which its health scripts are written."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .build import build_tool

_MODULE = Path(__file__).parent / "lua_module"


def program() -> Path:
    """The interpreter."""
    return build_tool("glua", _MODULE, "github.com/yuin/gopher-lua/cmd/glua", minutes=1)


def health(script: str, manifest: Mapping[str, Any]) -> str:
    """The status that a health script of Argo CD returns for an object, which it has as the variable `obj`."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua", encoding="utf-8") as file:
        file.write(f"obj = {_literal(manifest)}\nlocal function health()\n{script}\nend\nio.write(health().status)\n")
        file.flush()
        return subprocess.run([program(), file.name], capture_output=True, text=True, check=True).stdout


def _literal(value: Any) -> str:
    """A value of JSON as a literal of Lua, in which null is nil."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"[{_literal(name)}] = {_literal(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ", ".join(map(_literal, value)) + "}"
    if isinstance(value, str):
        return '"' + "".join(f"\\{byte:03d}" for byte in value.encode()) + '"'
    return "nil" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
