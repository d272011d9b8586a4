# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The line of a reconcile in the operator's log."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.result import (
    MAX_CHARACTERS,
    MAX_STEPS,
    log_line,
)
from hypothesis import given
from hypothesis import strategies as st

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
READY = {"type": "Ready", "status": "False", "reason": "PodsNotReady", "message": "1 of 2 pods is ready."}
HEAD = {"time": "2026-01-02T03:04:05Z", "kind": "Druid", "namespace": "ns", "name": "c", "seconds": 1.235}

# (id, result of the task without names, fields of the line after its head)
LINES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("nothing to do", {"changed": False, "plan": []}, {"level": "info", "changed": False, "done": []}),
    (
        "in progress",
        {"changed": True, "plan": ["create Service s"], "conditions": [READY], "generation": 3, "requeue_after": 5},
        {
            "level": "info",
            "generation": 3,
            "changed": True,
            "done": ["create Service s"],
            "ready": "False",
            "reason": "PodsNotReady",
            "message": "1 of 2 pods is ready.",
            "requeue_after": 5,
        },
    ),
    (
        "warnings",
        {"changed": False, "plan": [], "warnings": ["Check its name.", "x" * 2000, *["more"] * 30]},
        {
            "level": "info",
            "changed": False,
            "done": [],
            "warnings": ["Check its name.", "x" * 1000 + "...", *["more"] * 18, "and 12 more"],
        },
    ),
    (
        "failures besides the reconcile",
        {
            "changed": False,
            "plan": [],
            "warnings": ["Check its name.", "Cannot patch Druid c."],
            "failures": {"cache": "No response.", "reporting": "Cannot patch Druid c.", "metrics": "y" * 2000},
        },
        {
            "level": "warning",
            "changed": False,
            "done": [],
            "warnings": ["Check its name."],
            "cache": "No response.",
            "reporting": "Cannot patch Druid c.",
            "metrics": "y" * 1000 + "...",
        },
    ),
    (
        "a problem",
        {"changed": False, "plan": [], "msg": "It cannot be.", "conditions": []},
        {"level": "error", "changed": False, "done": [], "message": "It cannot be."},
    ),
]


@pytest.mark.parametrize(("returned", "expected"), [pytest.param(*case[1:], id=case[0]) for case in LINES])
def test_log_line(returned: dict[str, Any], expected: dict[str, Any]) -> None:
    line = log_line("Druid", {"name": "c", "namespace": "ns", **returned}, 1.23456, NOW)
    assert json.loads(line) == {**HEAD, **expected}


@given(steps=st.lists(st.text(max_size=20), max_size=60), message=st.text(max_size=3000))
def test_log_line_has_a_maximum_length(steps: list[str], message: str) -> None:
    line = log_line("Druid", {"changed": True, "plan": steps, "msg": message}, 0.1, NOW)
    assert "\n" not in line
    assert len(json.loads(line)["done"]) <= MAX_STEPS + 1
    assert len(json.loads(line).get("message", "")) <= MAX_CHARACTERS + 3
