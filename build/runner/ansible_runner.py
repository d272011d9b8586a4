# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of the real ansible-runner. The reason is in the log, and a metric counts it."""

from __future__ import annotations

import os
import sys
import time

from . import restrictions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

NAME = restrictions.NAME
METRIC = "druidops_ansible_runner_runs_total"
_DESCRIPTION = "Runs of ansible-runner, which the resident process did not carry out."
# The default is that of the reconcile.
_URL = "http://localhost:5050/metrics"
_TIMEOUT_SECONDS = 2
_NOT_FOUND = 127


def become(arguments: list[str], reason: str | None) -> NoReturn:
    """Become the real program, after the run has been restricted: the same process, streams and signals.

    ``reason``: why there is no resident process, None if there is not meant to be one.
    """
    if reason is not None:
        report(reason)
    if arguments[:1] == ["run"] and len(arguments) > 1:
        from . import memory

        arguments = restrictions.restrict(arguments, dict(os.environ), time.time())
        memory.limit(memory.of_run(restrictions.parts_of(arguments[1])[0]) + memory.OF_ANSIBLE)
    execute(arguments)


def execute(arguments: list[str]) -> NoReturn:
    """Become the real program."""
    program = next_on_path(sys.argv[0], os.environ.get("PATH", os.defpath))
    if program is None:
        sys.stderr.write(f"{NAME}: no other {NAME} on PATH behind {sys.argv[0]}: {os.environ.get('PATH')}\n")
        sys.exit(_NOT_FOUND)
    os.execv(program, [program, *arguments])


def run(arguments: list[str], limited: int) -> int:
    """Run the real program, each process with so many bytes of memory more at most; return its exit status.

    What it has started ends with it, and with the parent of this process.
    """
    from . import memory, processes

    processes.collect_orphans()
    processes.end_all_with_parent()
    program = os.fork()
    if program == 0:
        try:
            memory.limit(limited)
            processes.reset_signals()
            execute(arguments)
        finally:
            os._exit(_NOT_FOUND)
    return processes.wait(program)


def next_on_path(own: str, path: str) -> str | None:
    """The next program of this name on the path after the one beside ours; the first if that is not on the path."""
    own = os.path.join(os.path.dirname(os.path.abspath(own)), NAME)
    places = [os.path.join(directory or ".", NAME) for directory in path.split(os.pathsep)]
    programs = [place for place in places if os.path.isfile(place) and os.access(place, os.X_OK)]
    ours = [index for index, program in enumerate(programs) if os.path.samefile(program, own)]
    return next(iter(programs[ours[-1] + 1 if ours else 0 :]), None)


def report(reason: str) -> None:
    """Write the line and push the counter; an error only means that it is not reported there."""
    import json

    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = json.dumps({"time": now, "level": "warning", "message": f"The run is one of ansible-runner: {reason}."})
    try:
        with open(os.environ.get("DRUIDOPS_LOG") or os.devnull, "a", encoding="utf-8") as log:
            log.write(f"{line}\n")
    except OSError as error:
        sys.stderr.write(f"{NAME}: {error}\n")
    if url := os.environ.get("DRUIDOPS_METRICS_URL", _URL):
        _push(url, json.dumps({"name": METRIC, "description": _DESCRIPTION, "counter": {"increment": True}}))


def _push(url: str, body: str) -> None:
    from contextlib import closing, suppress
    from http.client import HTTPConnection, HTTPException
    from urllib.parse import urlsplit

    with suppress(OSError, HTTPException, ValueError):
        address = urlsplit(url)
        with closing(HTTPConnection(address.hostname or "", address.port, timeout=_TIMEOUT_SECONDS)) as connection:
            connection.request("POST", address.path, body.encode(), {"Content-Type": "application/json"})
            connection.getresponse().read()
