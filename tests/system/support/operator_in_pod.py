# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator in a pod of a real node, from its image, installed with the documented commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.tests.system.support.image import VIRTUAL
from ansible_collections.druidops.druid.tests.system.support.installation import (
    OPERATOR,
    Installer,
    commands,
    container,
)
from testbed.clients import helm
from testbed.control_plane import ControlPlane
from testbed.node import running
from testbed.node.images import operator
from testbed.operator.started import real_program

NAMESPACE = "druid-operator-system"
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:{OPERATOR}"
_DOCKERFILE = Path(__file__).parents[3] / "build" / "Dockerfile"
_PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"


@dataclass(frozen=True)
class OperatorInPod:
    """The operator of the cluster, and the shell of who has installed it."""

    shell: Installer
    plane: ControlPlane

    @property
    def pods(self) -> list[dict[str, Any]]:
        """Its pods."""
        found: list[dict[str, Any]] = self.plane.request("GET", _PODS)["items"]
        return found

    def execute(self, command: str) -> str:
        """What a command prints in its container."""
        script = f"kubectl exec deployments/{OPERATOR} --namespace {NAMESPACE} -- sh -c '{command}'"
        return self.shell.run(script).strip()

    def run_as(self, user: int) -> None:
        """Replace its pod by one with another user, of the group 0, as OpenShift chooses it; wait for it."""
        patch = {"spec": {"template": {"spec": {"securityContext": {"runAsUser": user, "runAsGroup": 0}}}}}
        (self.shell.directory / "patch.json").write_text(json.dumps(patch))
        self.shell.run(
            f"kubectl patch deployments {OPERATOR} --namespace {NAMESPACE} --patch-file patch.json\n"
            f"kubectl rollout status deployments/{OPERATOR} --namespace {NAMESPACE} --timeout 300s"
        )

    def log(self) -> list[dict[str, Any]]:
        """The lines of JSON that the current pod has printed."""
        printed = "".join(running.printed(self.plane.ca_file.parent, pod, "manager") for pod in self.pods)
        lines = [line.split(" ", 3) for line in printed.splitlines()]
        return [json.loads(text) for _time, _stream, _tag, text in lines if text.startswith("{")]


@contextmanager
def installed(plane: ControlPlane, layout: Path, directory: Path) -> Iterator[OperatorInPod]:
    """Load the image into the node under the name of the manifests, and install the operator; remove it again."""
    shell = Installer(directory, plane.kubeconfig())
    objects = shell.objects("kubectl kustomize config/default")
    name = str(container(objects["Deployment", NAMESPACE, OPERATOR])["image"])
    program = real_program()
    contents = operator.Contents(layout, VIRTUAL, Path(program) if program else None, helm())
    file = operator.image(name, _DOCKERFILE, contents, directory / "image.tar")
    running.load(running.machine_of(plane.ca_file.parent), file)
    file.unlink()
    try:
        shell.run(commands("With kubectl", 0))
        yield OperatorInPod(shell, plane)
    finally:
        shell.run(commands("Uninstalling without losing data", 1))
