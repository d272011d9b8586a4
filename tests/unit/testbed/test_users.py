# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Users, their tokens and kubeconfigs."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.testbed.users import USERS, read_tokens, write_kubeconfig, write_tokens


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    """A token file."""
    path = tmp_path / "tokens.csv"
    write_tokens(path)
    return path


def test_every_user_has_a_token_of_its_own(tokens: Path) -> None:
    read = read_tokens(tokens)
    assert set(read) == {user.name for user in USERS}
    assert len(set(read.values())) == len(USERS)


def test_only_the_limited_user_and_the_components_lack_the_masters_group(tokens: Path) -> None:
    rows = [line.split(",") for line in tokens.read_text().splitlines()]
    assert [username for _token, username, _uid, *groups in rows if groups != ["system:masters"]] == [
        "limited",
        "system:kube-controller-manager",
        "system:kube-scheduler",
        "system:kube-proxy",
        "system:node:real",
    ]


def test_kubeconfig_is_complete_and_private(tmp_path: Path) -> None:
    path = tmp_path / "person.kubeconfig"
    write_kubeconfig(path, "https://127.0.0.1:6443", b"certificate", "person", "secret")
    content = json.loads(path.read_text())
    assert content["clusters"][0]["cluster"] == {
        "server": "https://127.0.0.1:6443",
        "certificate-authority-data": "Y2VydGlmaWNhdGU=",
    }
    assert content["users"] == [{"name": "person", "user": {"token": "secret"}}]
    assert content["contexts"][0]["context"] == {"cluster": "testbed", "user": "person"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
