# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The readiness probe of the operator's pod: ansible-operator responds, and runs can start.

Usage: ready PORT (of ansible-operator's probes)

The pod is not ready if ansible-operator does not respond, nothing can be written to /tmp, or runs of at least two
resources have been attempted for a while, and none of them has reached its action. A single resource is never the
cause: its run may have been killed, and others may not be due for an hour. Kubernetes decides how long that has to
last.
"""

from __future__ import annotations

import os
import re
import socket
import sys
import time

# See runner/restrictions.py.
PENDING = "DRUIDOPS_PENDING_RUN"
# A run may take that long to start on a busy node.
START_SECONDS = 60
# ansible-operator retries after at most 1000 s. Without a later attempt, the resources have probably been deleted.
RETRY_SECONDS = 1200
MIN_RESOURCES = 2
_ATTEMPT = re.compile("^([0-9]+) (.+)$", re.MULTILINE)
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
    """Return for how long no run has started although runs of several resources were attempted."""
    try:
        last = os.stat(pending).st_mtime
        with open(pending, encoding="utf-8", errors="replace") as file:
            attempts = _ATTEMPT.findall(file.read())
    except OSError:
        return ""
    first: dict[str, float] = {}
    for when, resource in attempts:
        first.setdefault(resource, now - float(when))
    waiting = [seconds for seconds in first.values() if seconds > START_SECONDS]
    if now - last > RETRY_SECONDS or len(waiting) < MIN_RESOURCES:
        return ""
    return f"No run has started for {max(waiting):.0f} s; the log has the output."


if __name__ == "__main__":
    main()
