# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Free ports."""

from __future__ import annotations

import socket

import pytest
from ansible_collections.druidops.druid.tests.testbed import ports
from ansible_collections.druidops.druid.tests.testbed.ports import free_ports


def test_ports_differ_and_can_be_bound() -> None:
    chosen = free_ports(20)
    assert len(set(chosen)) == 20
    for port in chosen:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", port))


def test_port_in_use_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        used = taken.getsockname()[1]
        (other,) = free_ports(1)
        monkeypatch.setattr(ports, "_CANDIDATES", [used, other])
        assert free_ports(1) == [other]
