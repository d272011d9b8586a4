# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The readiness probe of the operator's pod: ansible-operator responds, and runs can start.

Usage: ready PORT (of ansible-operator's probes)

The pod is not ready if ansible-operator does not respond, nothing can be written to /tmp, or runs have been attempted
for a while, and none of them has reached its action. A single resource is never the cause, since runs of other
resources start. Kubernetes decides how long that has to last.
"""

from __future__ import annotations

import os
import socket
import sys
import time

# See runner.py.
PENDING = "DRUIDOPS_PENDING_RUN"
# A run may take that long to start on a busy node.
START_SECONDS = 60
TIMEOUT_SECONDS = 5
DIRECTORY = "/tmp"
# What a run writes before it starts.
BYTES = 1 << 16


def main() -> None:
    """Exit with a message if the pod is not ready."""
    pending = os.environ.get(PENDING, "")
    problem = no_response(int(sys.argv[1])) or no_room(DIRECTORY) or no_start(pending, time.time())
    if problem:
        sys.exit(problem)


def no_response(port: int) -> str:
    """Return what is wrong with the response of ansible-operator's own probe."""
    request = b"GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n"
    try:
        with socket.create_connection(("localhost", port), TIMEOUT_SECONDS) as connection:
            connection.sendall(request)
            status = connection.recv(100).split(b"\r\n")[0]
    except OSError as error:
        return f"ansible-operator does not respond at port {port}: {error}"
    return "" if status.split(b" ")[1:2] == [b"200"] else f"ansible-operator is not ready: {status.decode('latin-1')}"


def no_room(directory: str) -> str:
    """Return why a run could not write its files."""
    file = os.path.join(directory, f".ready-{os.getpid()}")
    try:
        with open(file, "wb") as output:
            output.write(bytes(BYTES))
    except OSError as error:
        return f"Runs cannot start: {directory} cannot be written: {error}"
    finally:
        if os.path.exists(file):
            os.unlink(file)
    return ""


def no_start(pending: str, now: float) -> str:
    """Return since when no run has started although runs were attempted."""
    try:
        seconds = now - os.stat(pending).st_mtime
    except OSError:
        return ""
    return f"No run has started for {seconds:.0f} s; the log has the output." if seconds > START_SECONDS else ""


if __name__ == "__main__":
    main()
