# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send ansible-operator the events of a playbook that it acts on, and keep them as artifacts.

ansible-runner's callback plugin makes the events; ansible-runner parses its output for them, here it is asked directly.
ansible-operator reads them at a unix socket (runner/eventapi of ansible-operator-plugins v1.42).
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from socket import AF_UNIX, socket
from types import ModuleType
from typing import Any

from ansible.plugins.loader import callback_loader
from ansible_runner.config.runner import RunnerConfig

CALLBACK = "awx_display"
# It logs the first three if that is requested; the period of requeue_after is in the second.
ACTED_ON = frozenset(
    {"playbook_on_task_start", "runner_on_ok", "runner_item_on_ok", "runner_on_failed", "playbook_on_stats"}
)
_LAST = "playbook_on_stats"
# It accepts an event within 10 s, or answers that it does not.
_TIMEOUT_SECONDS = 30


def callback_module() -> ModuleType:
    """The module of the callback plugin."""
    return sys.modules[callback_loader.get(CALLBACK, class_only=True).__module__]


def to_json(value: Any) -> str:
    """The text of a document with any of Ansible's own types."""
    return json.dumps(value, cls=callback_module().AnsibleJSONEncoderLocal)


def post_from(config: RunnerConfig) -> None:
    """Post the events from now on."""
    context = callback_module().event_context
    sender = _Sender(config)
    context.dump_begin = lambda _stream: sender.begin(context.get_begin_dict())
    context.dump_end = lambda _stream: sender.end()


class _Sender:
    """The event between its begin and its end, in which its text is printed."""

    def __init__(self, config: RunnerConfig) -> None:
        self._artifacts = os.path.join(config.artifact_dir, "job_events")
        self._ident = str(config.ident)
        self._address = config.settings.get("runner_http_url")
        self._path = config.settings.get("runner_http_path")
        # The text of the event without its end: the plugin that prints the result may change it.
        self._begun: str | None = None
        self._uuid = self._kind = ""
        # Without one of the events, ansible-operator would take the run for a success: with the request to be repeated,
        # or the failure of a task. Without the last one, it reports an error, and repeats the run after a pause.
        self._is_lost = False
        self._offset = 0
        self._count = 0

    def begin(self, event: dict[str, Any]) -> None:
        self._begun = to_json(event).removesuffix("}") if event["event"] in ACTED_ON else None
        if self._begun:
            self._uuid, self._kind, self._offset = event["uuid"], event["event"], _printed()

    def end(self) -> None:
        if self._begun is None:
            return
        self._count += 1
        rest = {"counter": self._count, "stdout": _text(self._offset), "runner_ident": self._ident}
        body = f"{self._begun}, {json.dumps(rest).removeprefix('{')}"
        self._begun = None
        self._post(body)
        file = os.path.join(self._artifacts, f"{self._count}-{self._uuid}.json")
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(body)

    def _post(self, body: str) -> None:
        """Post the event; the run goes on if that fails, as with ansible-runner, but it is not reported as complete."""
        if not self._address or (self._is_lost and self._kind == _LAST):
            return
        if not post(self._address, self._path, body):
            self._is_lost = True
            print(f"The event {self._kind} was not sent to ansible-operator")


def post(address: str, path: str, body: str) -> bool:
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


def _printed() -> int:
    """How many bytes have been printed; standard output is a file."""
    sys.stdout.flush()
    return os.lseek(1, 0, os.SEEK_CUR)


def _text(offset: int) -> str:
    """What has been printed since then, without the last line break."""
    length = _printed() - offset
    return os.pread(1, length, offset).decode(errors="replace").rstrip("\r\n") if length else ""
