# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""End a run without its playbook: the artifacts of a run, and the one event that ansible-operator waits for."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ansible_runner.utils import cleanup_artifact_dir

from . import events, in_process

_ENCODING = "utf-8"
# The action with which a playbook requests to be repeated.
REQUEUE = "requeue_after"


class Address(NamedTuple):
    """Where ansible-operator accepts the events of a run: a unix socket, and a path."""

    socket: str
    path: str


class Event(NamedTuple):
    """What ansible-operator acts on."""

    name: str
    data: Mapping[str, Any]


ENDED = Event("playbook_on_stats", {})


def requeue(period: str, task: str = "Schedule the next reconcile while changes are in progress") -> Event:
    """The event with which ansible-operator repeats the run after a time, a Go duration."""
    result = {"changed": False, "period": period}
    return Event("runner_on_ok", {"task": task, "task_action": REQUEUE, "host": "localhost", "res": result})


def read(directory: str, name: str) -> Any:
    """One of ansible-operator's documents for this run, such as extravars. OSError, ValueError, RecursionError."""
    with open(os.path.join(directory, "env", name), encoding=_ENCODING) as stream:
        return json.load(stream)


def address(directory: str) -> Address:
    """The address for the events of this run; LookupError or TypeError if there is none."""
    settings = read(directory, "settings")
    return Address(settings["runner_http_url"], settings["runner_http_path"])


def end(options: in_process.Options, to: Address, event: Event, output: str = "") -> int:
    """Leave the artifacts of a successful run, and send the event; the exit status."""
    artifacts = os.path.join(options.directory, "artifacts", options.ident)
    os.makedirs(artifacts, exist_ok=True)
    cleanup_artifact_dir(os.path.dirname(artifacts), options.artifacts)
    is_sent = events.post(to.socket, to.path, json.dumps(_document(options.ident, event)))
    # Without the event, ansible-operator reports that the run has not ended, and repeats it after a pause.
    status = 0 if is_sent else 1
    for name, text in (("stdout", output), ("status", "failed" if status else "successful"), ("rc", str(status))):
        with open(os.path.join(artifacts, name), "w", encoding=_ENCODING) as stream:
            stream.write(text)
    return status


def _document(ident: str, event: Event) -> Mapping[str, Any]:
    return {
        "uuid": str(uuid.uuid4()),
        "counter": 1,
        "stdout": "",
        "created": datetime.now(UTC).isoformat(),
        "runner_ident": ident,
        "event": event.name,
        "event_data": event.data,
    }
