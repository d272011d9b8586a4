# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The resident process: a run that cannot start affects no other."""

from __future__ import annotations

import os
import socket
import sys
from errno import EAGAIN

import pytest
from ansible_collections.druidops.druid.build.runner import message
from ansible_collections.druidops.druid.build.runner.resident import Client, Resident


def test_client_that_was_killed_has_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    directory = b"/tmp/ansible-operator/runner/druid.apache.org/v1alpha1/Druid/namespace/name"
    client, connection = socket.socketpair()
    with connection, socket.socket() as unused:
        with client:
            client.sendall(message.encode(message.Request([b"run", directory], b"/", {})))
        resident = Resident(unused, unused, [], "")
        handle = connection.fileno()
        resident.clients[handle] = Client(connection, streams=[*map(os.dup, (1, 1, 1))])
        monkeypatch.setattr(os, "fork", lambda: pytest.fail("a run was started"))
        resident._receive(handle)
        assert (resident.clients, resident.runs) == ({}, {})


def test_run_that_cannot_start_ends_only_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are too many processes, and there is no space for the log."""

    def no_process() -> int:
        raise BlockingIOError(EAGAIN, "Resource temporarily unavailable")

    directory = b"/tmp/ansible-operator/runner/druid.apache.org/v1alpha1/Druid/namespace/name"
    client, connection = socket.socketpair()
    stream, writer = os.pipe()
    with client, connection, socket.socket() as unused, open("/dev/full", "w", encoding="utf-8") as log:
        resident = Resident(unused, unused, [], "")
        handle = connection.fileno()
        resident.clients[handle] = Client(connection, streams=[writer, *map(os.dup, (writer, writer))])
        monkeypatch.setattr(os, "fork", no_process)
        # as it is: each line is written at once
        log.reconfigure(line_buffering=True)
        monkeypatch.setattr(sys, "stderr", log)
        client.sendall(message.encode(message.Request([b"run", directory], b"/", {})))

        resident._receive(handle)

        monkeypatch.undo()
        assert (resident.clients, resident.runs) == ({}, {})
        # after that, its client begins no run of ansible-runner
        assert client.recv(100).startswith(message.READY)
        assert (client.recv(1), os.read(stream, 1)) == (b"", b"")
        os.close(stream)
        with pytest.raises(OSError, match="No space left"):
            log.close()
