# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the demo suggests."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tools.demo.suggestions import Shown, suggestions

ROUTER = "http://192.0.2.1:8888"
IMAGE = ["sed", "ansible-playbook --check", "ansible-playbook"]
KILL = ["kubectl delete", "kubectl rollout"]
SCALE = ["kubectl patch", "ansible-playbook", "kubectl get"]
DELETE = ["ansible-playbook absent"]


@pytest.mark.parametrize(
    ("router", "embedded", "has_kubectl", "steps"),
    [
        (ROUTER, True, True, ["curl", "kubectl logs", "kubectl get", *KILL, *IMAGE, *SCALE, *DELETE, "make"]),
        (None, True, True, [*KILL, *IMAGE, *SCALE, *DELETE, "make"]),
        (None, False, True, [*KILL, *IMAGE, *SCALE, *DELETE]),
        (None, False, False, [*IMAGE, *DELETE]),
    ],
    ids=["Druid in containers", "simulated", "own cluster", "own cluster, no kubectl"],
)
def test_order_of_the_commands(router: str | None, embedded: bool, has_kubectl: bool, steps: list[str]) -> None:
    shown = Shown("one", Path("one.yaml"), Path("/demo"), router, embedded, has_kubectl=has_kubectl)
    environment, *commands = (line for line in suggestions(shown) if line and not line.startswith("#"))
    assert environment == ". /demo/environment"
    assert [step(command) for command in commands] == steps


def step(command: str) -> str:
    program, *words = command.replace("--namespace druid-demo ", "").split()
    if program == "kubectl":
        return f"{program} {words[0]}"
    marks = [mark for mark in ("--check", "absent") if program == "ansible-playbook" and mark in command]
    return " ".join([program, *marks])
