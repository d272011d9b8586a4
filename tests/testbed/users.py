# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The users of the control plane: each program under test has its own, so that the audit log distinguishes them."""

from __future__ import annotations

import base64
import csv
import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from .private_file import private

_MASTERS = "system:masters"


@dataclass(frozen=True)
class User:
    """A user by the name of its kubeconfig, with its name and group in Kubernetes."""

    name: str
    username: str
    group: str = ""


def _master(name: str) -> User:
    return User(name, name, _MASTERS)


USERS = (
    *map(_master, ("admin", "druidops", "go-operator", "operator", "person", "kwok", "coredns", "volumes")),
    # has no permissions until a test grants some
    User("limited", "limited"),
    # RBAC's built-in roles go by these names
    User("controller-manager", "system:kube-controller-manager"),
    User("scheduler", "system:kube-scheduler"),
    User("kube-proxy", "system:kube-proxy"),
    User("kubelet", "system:node:real", "system:nodes"),
)


def write_tokens(path: Path) -> None:
    """Write a new token for every user, in the format of kube-apiserver."""
    with private(path).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows((secrets.token_hex(16), user.username, user.username, user.group) for user in USERS)


def read_tokens(path: Path) -> dict[str, str]:
    """The token of each user, by the user's short name."""
    with path.open(newline="") as file:
        tokens = {username: token for token, username, *_rest in csv.reader(file)}
    return {user.name: tokens[user.username] for user in USERS}


def write_kubeconfig(path: Path, url: str, authority: bytes, user: str, token: str) -> None:
    """Write a kubeconfig (JSON is YAML as well) for one user."""
    cluster = {"server": url, "certificate-authority-data": base64.b64encode(authority).decode()}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "testbed",
        "clusters": [{"name": "testbed", "cluster": cluster}],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": "testbed", "context": {"cluster": "testbed", "user": user}}],
    }
    private(path).write_text(json.dumps(content, indent=1))
