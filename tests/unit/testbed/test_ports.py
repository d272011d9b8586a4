# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Free ports."""

from __future__ import annotations

import socket

import pytest
from ansible_collections.druidops.druid.tests.testbed import ports
from ansible_collections.druidops.druid.tests.testbed.ports import reserved_ports


def one_of(monkeypatch: pytest.MonkeyPatch, *candidates: int) -> int:
    """The port that is reserved when there are only these to choose from."""
    monkeypatch.setattr(ports, "_CANDIDATES", candidates)
    with reserved_ports(1) as (port,):
        return port


def test_ports_differ_and_can_be_bound_afterwards() -> None:
    with reserved_ports(20) as chosen:
        assert len(set(chosen)) == 20
    for port in chosen:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", port))


def test_port_in_use_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    with reserved_ports(1) as (other,):
        pass
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert one_of(monkeypatch, taken.getsockname()[1], other) == other


def test_reserved_port_is_unique_and_can_be_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    with reserved_ports(1) as (other,):
        pass
    with reserved_ports(1) as (reserved,):
        assert one_of(monkeypatch, reserved, other) == other
        with socket.create_server(("127.0.0.1", reserved)) as server, socket.create_connection(server.getsockname()):
            assert one_of(monkeypatch, reserved, other) == other
