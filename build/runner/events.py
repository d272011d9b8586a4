# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The events of a run for ansible-operator, and the artifacts that ansible-runner would leave.

ansible-operator reads the events at a unix socket (runner/eventapi of ansible-operator-plugins v1.42). A run has
succeeded with the last event of a playbook, or with the one of requeue_after; otherwise, it is repeated after a pause.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from socket import AF_UNIX, socket
from typing import Any, NamedTuple

_ENCODING = "utf-8"
# The action with which a playbook requests to be repeated.
_REQUEUE = "requeue_after"
# It accepts an event within 10 s, or answers that it does not.
_TIMEOUT_SECONDS = 30


class Event(NamedTuple):
    """What ansible-operator acts on."""

    name: str
    data: Mapping[str, Any]


ENDED = Event("playbook_on_stats", {})


def requeue(seconds: float) -> Event:
    """The event with which ansible-operator repeats the run after that time."""
    data = {"task_action": _REQUEUE, "host": "localhost", "res": {"changed": False, "period": f"{round(seconds, 3)}s"}}
    return Event("runner_on_ok", {"task": "Schedule the next reconcile while changes are in progress", **data})


def failure(message: str) -> Event:
    """The event of a failed task; ENDED has to follow."""
    return Event("runner_on_failed", {"task": "Reconcile", "host": "localhost", "res": {"msg": message}})


class Run(NamedTuple):
    """What ansible-operator requests: the directory of the run's files, how many runs to keep, its name."""

    directory: str
    kept: int
    ident: str

    @property
    def artifacts(self) -> str:
        """The directory for what the run leaves."""
        return os.path.join(self.directory, "artifacts", self.ident)

    def read(self, name: str) -> Any:
        """One of ansible-operator's documents for this run, such as extravars. OSError or ValueError."""
        with open(os.path.join(self.directory, "env", name), encoding=_ENCODING) as stream:
            return json.load(stream)

    def end(self, events: Iterable[Event], output: str, status: int) -> int:
        """Send the events, leave the artifacts, and return the exit status: that of a failure if an event is lost."""
        settings = self.read("settings")
        for number, event in enumerate(events, 1):
            document = self._document(number, event)
            if not _post(settings["runner_http_url"], settings["runner_http_path"], json.dumps(document)):
                output += f"The event {event.name} was not sent to ansible-operator.\n"
                status = status or 1
                break
            self._write(os.path.join("job_events", f"{number}-{document['uuid']}.json"), json.dumps(document))
        self._write("stdout", output)
        self._write("status", "failed" if status else "successful")
        self._write("rc", str(status))
        return status

    def begin(self) -> None:
        """Make the directory, and remove the artifacts of the oldest runs; a link is ansible-operator's."""
        os.makedirs(os.path.join(self.artifacts, "job_events"), exist_ok=True)
        with os.scandir(os.path.dirname(self.artifacts)) as entries:
            found = [(each.stat().st_mtime, each.path) for each in entries if each.is_dir(follow_symlinks=False)]
        for _time, path in sorted(found, reverse=True)[self.kept :]:
            shutil.rmtree(path, ignore_errors=True)

    def _write(self, name: str, text: str) -> None:
        with open(os.path.join(self.artifacts, name), "w", encoding=_ENCODING) as stream:
            stream.write(text)

    def _document(self, number: int, event: Event) -> Mapping[str, Any]:
        return {
            "uuid": str(uuid.uuid4()),
            "counter": number,
            "stdout": "",
            "created": datetime.now(UTC).isoformat(),
            "runner_ident": self.ident,
            "event": event.name,
            "event_data": event.data,
        }


def _post(address: str, path: str, body: str) -> bool:
    """Post an event to a unix socket; True if it has been accepted."""
    connection = _UnixConnection(address)
    with suppress(OSError, HTTPException), closing(connection):
        connection.request("POST", path, body.encode(), {"Content-Type": "application/json"})
        return connection.getresponse().status == HTTPStatus.NO_CONTENT
    return False


class _UnixConnection(HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, address: str) -> None:
        super().__init__("localhost", timeout=_TIMEOUT_SECONDS)
        self._address = address

    def connect(self) -> None:
        self.sock = socket(AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._address)
