# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each setting of the real Helm is defined for a run, whatever the shell has; in all tests of the playbook, too."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm import helm_connection, private_environment
from testbed.clients import helm

# Values that Helm accepts, other than its own defaults.
OTHER = {"BURST_LIMIT": "7", "QPS": "7", "MAX_HISTORY": "7", "DEBUG": "true", "SKIP_TLS_VERIFY": "true"}
FILES = ("_HOME", "_CONFIG", "_CACHE", "_PLUGINS")


def settings(environment: dict[str, str]) -> dict[str, str]:
    """What `helm env` prints, without its own path."""
    printed = subprocess.run([helm(), "env"], env=environment, check=True, capture_output=True, text=True).stdout
    lines = (line.partition("=") for line in printed.splitlines())
    return {name: value.strip('"') for name, _equals, value in lines if name != "HELM_BIN"}


def test_each_setting_of_helm_is_defined(tmp_path: Path) -> None:
    own, shell = tmp_path / "run", tmp_path / "shell"
    own.mkdir()
    shell.mkdir()
    home = {"HOME": str(shell)}
    default = settings(home)
    hostile = {
        name: next((value for end, value in OTHER.items() if name.endswith(end)), str(shell / "other"))
        for name in default
    }
    assert {name for name, value in settings({**home, **hostile}).items() if value == default[name]} == set()

    connection = helm_connection({"host": "https://h"}, hostile)
    found = settings({**home, **hostile, **connection.environment, **private_environment(own, None)})
    assert {name for name, value in found.items() if value in hostile.values() or str(shell) in value} == set()
    files = {name: value for name, value in found.items() if name.endswith(FILES)}
    assert len(files) == 7
    assert {name for name, value in files.items() if not value.startswith(str(own))} == set()
    # the others are the defaults
    others = found.keys() - files.keys()
    assert {name: found[name] for name in others} == {name: default[name] for name in others}


def test_credentials_of_the_administrator(tmp_path: Path) -> None:
    environment = private_environment(tmp_path, "/etc/registry.json")
    assert environment["HELM_REGISTRY_CONFIG"] == "/etc/registry.json"
    assert environment["DOCKER_CONFIG"].startswith(str(tmp_path))
