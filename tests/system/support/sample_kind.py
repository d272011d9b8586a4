# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A custom kind for tests of the operator: resources with a spec of any form and a status."""

from __future__ import annotations

import base64
import json
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from testbed.api import Api
from testbed.control_plane import ControlPlane

MERGE = "application/merge-patch+json"
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_REQUEUE_AFTER = """\
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        return dict(self._task.args)
"""

# As ansible-runner reports an empty run, which takes it a second.
_QUICK_RUNNER = """\
#!{python} -IS
import json, os, socket, sys, time

while {until!r} and not os.path.exists({until!r}):
    time.sleep(0.02)
with open(os.path.join(sys.argv[2], "env", "settings")) as file:
    settings = json.load(file)
event = json.dumps({{"uuid": "1", "event": "playbook_on_stats", "created": "2026-01-01T00:00:00.000000+00:00"}})
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(settings["runner_http_url"])
    head = f"POST {{settings['runner_http_path']}} HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Type: application/json"
    connection.sendall(f"{{head}}\\r\\nContent-Length: {{len(event)}}\\r\\n\\r\\n{{event}}".encode())
    connection.recv(1000)
"""


def quick_runner(directory: Path, *, until: Path | None = None) -> Path:
    """An ansible-runner that reports the end of a playbook at once, or when there is the file; where it is."""
    program = directory / "quick" / "ansible-runner"
    program.parent.mkdir(exist_ok=True)
    program.write_text(_QUICK_RUNNER.format(python=sys.executable, until=str(until or "")))
    program.chmod(0o755)
    return program.parent


class SampleKind:
    """The samples of a namespace, and the playbooks for them."""

    def __init__(self, plane: ControlPlane, group: str, namespace: str, directory: Path) -> None:
        self.plane = plane
        self.group = group
        self.namespace = namespace
        self.directory = directory

    @property
    def api_version(self) -> str:
        """The apiVersion of a sample."""
        return f"{self.group}/v1"

    @property
    def variable(self) -> str:
        """The name of the variable that a run has the sample in."""
        return f"_{self.group}_sample".replace(".", "_").replace("-", "_")

    def path(self, name: str = "", namespace: str = "") -> str:
        """The path of a sample, or of all."""
        path = f"/apis/{self.api_version}/namespaces/{namespace or self.namespace}/samples"
        return f"{path}/{name}" if name else path

    def create(self, name: str, namespace: str = "", spec: Any = None, **metadata: Any) -> dict[str, Any]:
        """A new sample."""
        body = {"apiVersion": self.api_version, "kind": "Sample", "metadata": {"name": name, **metadata}}
        return self.plane.request("POST", self.path(name="", namespace=namespace), {**body, "spec": spec or {}})

    def get(self, name: str) -> dict[str, Any]:
        """A sample."""
        return self.plane.request("GET", self.path(name))

    def patch(self, name: str, body: Any, subresource: str = "") -> None:
        """Change a sample."""
        self.plane.request("PATCH", f"{self.path(name)}{subresource}", body, content_type=MERGE)

    def delete(self, name: str) -> None:
        """Delete a sample."""
        self.plane.request("DELETE", self.path(name))

    def playbook(self, *tasks: Mapping[str, Any], name: str = "play.yml") -> Path:
        """A playbook with these tasks, and the action requeue_after beside it."""
        plugin = self.directory / "action_plugins" / "requeue_after.py"
        plugin.parent.mkdir(exist_ok=True)
        plugin.write_text(_REQUEUE_AFTER)
        file = self.directory / name
        play = {"hosts": "localhost", "gather_facts": False, "tasks": [*tasks, {"debug": {"msg": "the end"}}]}
        file.write_text(json.dumps([play]))
        return file

    def watch(self, playbook: Path, **more: Any) -> dict[str, Any]:
        """An entry of watches.yaml."""
        return {
            "group": self.group,
            "version": "v1",
            "kind": "Sample",
            "playbook": str(playbook),
            "manageStatus": False,
            "snakeCaseParameters": False,
            "markUnsafe": True,
            "watchAnnotationsChanges": True,
            "reconcilePeriod": "10h",
            **more,
        }

    def proxied(self, url: str, owner: Mapping[str, Any] | None) -> Api:
        """The operator's proxy as a run for the owner sees it."""
        return Api(url, authorization=f"Basic {_basic(owner)}" if owner else "Bearer nobody")


def _basic(owner: Mapping[str, Any]) -> str:
    user = base64.urlsafe_b64encode(json.dumps(reference(owner, Namespace=owner["metadata"]["namespace"])).encode())
    return base64.b64encode(user + b":unused").decode()


def reference(owner: Mapping[str, Any], **more: str) -> dict[str, str]:
    """The owner reference of an object."""
    metadata = owner["metadata"]
    names = {"name": metadata["name"], "uid": metadata["uid"]}
    return {"apiVersion": owner["apiVersion"], "kind": owner["kind"], **names, **more}


@contextmanager
def created_sample_kind(plane: ControlPlane) -> Iterator[str]:
    """A new kind; its group, which no other test has."""
    group = f"samples-{secrets.token_hex(4)}.example.com"
    schema = {"type": "object", "properties": {"spec": _ANY, "status": _ANY}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    names = {"plural": "samples", "singular": "sample", "kind": "Sample", "listKind": "SampleList"}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    plane.request("POST", _CRDS, {"metadata": {"name": f"samples.{group}"}, "spec": spec})
    try:
        yield group
    finally:
        plane.request("DELETE", f"{_CRDS}/samples.{group}")
