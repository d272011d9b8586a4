# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An API server with prepared responses, and a connection to it that does not pause."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import urllib3
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import Server, serving


@pytest.fixture
def server() -> Iterator[Server]:
    """An API server."""
    with serving() as running:
        yield running


@pytest.fixture
def api(server: Server) -> Iterator[KubernetesApi]:
    """A connection to it."""
    with urllib3.PoolManager() as pool:
        yield KubernetesApi(server.url, pool, sleep=lambda _seconds: None)
