# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The directory that ansible-runner is given: variables, settings, inventory, playbook."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .kinds import Key, Kind
from .runs import INPUT


@dataclass(frozen=True)
class Input:
    """What one run is given."""

    playbook: Path
    parameters: Mapping[str, Any]
    kubeconfig: Path
    socket: Path
    command_line: str


def input_directory(kind: Kind, key: Key) -> Path:
    """The directory of a resource, the same for all of its runs."""
    return INPUT / kind.group / kind.version / kind.kind / key.namespace / key.name


def write(directory: Path, given: Input, environment: Mapping[str, str]) -> None:
    """Write it, over what the resource's last run was given; the environment is that of the operator."""
    for name in ("env", "project", "inventory"):
        (directory / name).mkdir(parents=True, exist_ok=True)
    configured = variables(given.kubeconfig)
    settings = {"runner_http_url": str(given.socket), "runner_http_path": "/events/"}
    (directory / "env" / "envvars").write_text(json.dumps(configured))
    (directory / "env" / "extravars").write_text(json.dumps(given.parameters))
    (directory / "env" / "settings").write_text(json.dumps(settings))
    if given.command_line:
        (directory / "env" / "cmdline").write_text(given.command_line)
    _write_inventory(directory / "inventory", environment)
    (directory / "project" / "playbook.yaml").write_bytes(given.playbook.read_bytes())


def variables(kubeconfig: Path) -> dict[str, str]:
    """The environment that a run has besides the operator's."""
    return {"K8S_AUTH_KUBECONFIG": str(kubeconfig), "KUBECONFIG": str(kubeconfig)}


def _write_inventory(inventory: Path, environment: Mapping[str, str]) -> None:
    if not (chosen := environment.get("ANSIBLE_INVENTORY")):
        virtual = environment.get("VIRTUAL_ENV")
        python = f"{virtual}/bin/python3" if virtual else "{{ansible_playbook_python}}"
        (inventory / "hosts").write_text(f"localhost ansible_connection=local ansible_python_interpreter={python}")
    elif Path(chosen).is_dir():
        shutil.copytree(chosen, inventory, dirs_exist_ok=True)
    else:
        shutil.copy(chosen, inventory / "hosts")
