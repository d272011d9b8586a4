# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which pods are not expected to be ready again before they are replaced."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.worker_groups import is_broken

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SHORT, LONG = "2025-12-31T23:31:00Z", "2025-12-31T23:30:00Z"
UNPLACED = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}


def ready(status: str, since: str) -> dict[str, Any]:
    return {"type": "Ready", "status": status, "lastTransitionTime": since}


def state(reason: str) -> list[dict[str, Any]]:
    return [{"name": "c", "state": {"waiting": {"reason": reason}} if reason else {"running": {}}}]


TABLE: list[tuple[str, list[dict[str, Any]], str, str, bool]] = [
    ("ready", [ready("True", LONG)], "", LONG, False),
    ("not for a moment", [ready("False", SHORT)], "", LONG, False),
    ("not for long", [ready("False", LONG)], "", LONG, True),
    ("never, and young", [], "", SHORT, False),
    ("never, and old", [], "", LONG, True),
    ("it crashes", [ready("False", SHORT)], "CrashLoopBackOff", SHORT, True),
    ("it is being created", [ready("False", SHORT)], "ContainerCreating", SHORT, False),
    ("it fits on no node", [ready("False", SHORT), UNPLACED], "", SHORT, True),
]


@pytest.mark.parametrize(
    ("conditions", "reason", "created", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_is_broken(conditions: list[dict[str, Any]], reason: str, created: str, expected: bool) -> None:
    status = {"conditions": conditions, "containerStatuses": state(reason)}
    pod = {"metadata": {"name": "mm-0", "creationTimestamp": created}, "status": status}
    assert is_broken(pod, 1800, NOW) == expected
