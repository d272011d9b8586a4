# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures of the tests of the Kubernetes API."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import Server


@pytest.fixture
def api(server: Server) -> Iterator[KubernetesApi]:
    pauses: list[float] = []
    with urllib3.PoolManager() as pool:
        connection = KubernetesApi(server.url, pool, sleep=pauses.append)
        connection.pauses = pauses  # type: ignore[attr-defined]
        yield connection


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the configuration of this machine: kubeconfig, environment variables, service account."""
    for name in list(os.environ):
        if name.startswith(("K8S_AUTH_", "KUBERNETES_", "KUBECONFIG")) or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "none"))
