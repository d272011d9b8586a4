# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The fixture for tests that need the real Go operator. Only `make test-go-operator` collects them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from testbed.go_operator import GoOperatorProgram
from testbed.ports import reserved_ports


@pytest.fixture
def go_operator(live: NamespaceClient, tmp_path: Path) -> Iterator[GoOperatorProgram]:
    """The Go operator for the namespace, to be started."""
    directory = tmp_path / "go-operator"
    directory.mkdir()
    with reserved_ports(1) as [port]:
        kubeconfig = live.plane.kubeconfig("go-operator")
        with GoOperatorProgram(directory, kubeconfig, live.namespace, probe_port=port) as program:
            yield program
