# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Supervisors in the desired state: one task of the module for all, one task for each, and tasks of uri."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from testbed.druid.druid import Druid

MODULE = "druidops.druid.supervisor"


def specs(count: int) -> list[dict[str, Any]]:
    """Return the specifications of suspended supervisors, so that Druid has nothing else to do."""
    return [spec(f"bench{number}") for number in range(count)]


def create(druid: Druid, desired: list[dict[str, Any]]) -> None:
    """Create the supervisors, without the code of the collection."""
    for each in desired:
        druid.request("POST", "/druid/indexer/v1/supervisor", each)


def playbooks(scratch: Path, url: str, desired: list[dict[str, Any]]) -> dict[str, Path]:
    """Write a playbook for each way to manage them; return them by name."""
    together: dict[str, Any] = {MODULE: {"url": url, "supervisors": [{"spec": each} for each in desired]}}
    one_by_one: dict[str, Any] = {MODULE: {"url": url, "spec": "{{ item }}"}, "loop": desired}
    by_hand: dict[str, Any] = {
        "ansible.builtin.uri": {
            "url": f"{url}/druid/indexer/v1/supervisor?skipRestartIfUnmodified=true",
            "method": "POST",
            "body_format": "json",
            "body": "{{ item }}",
        },
        "loop": desired,
    }
    ways: dict[str, dict[str, Any]] = {"module": together, "loop": one_by_one, "uri": by_hand}
    return {name: _written(scratch / f"supervisors-{name}.json", task) for name, task in ways.items()}


def _written(path: Path, task: dict[str, Any]) -> Path:
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": [task]}
    path.write_text(json.dumps([play]))
    return path


def spec(name: str) -> dict[str, Any]:
    """Return the specification of a suspended supervisor."""
    return {
        "type": "kafka",
        "spec": {
            "dataSchema": {
                "dataSource": name,
                "timestampSpec": {"column": "ts", "format": "iso"},
                "dimensionsSpec": {"dimensions": ["page", "user", {"type": "long", "name": "added"}]},
                "metricsSpec": [{"type": "count", "name": "count"}],
                "granularitySpec": {"segmentGranularity": "hour", "queryGranularity": "none", "rollup": True},
            },
            "ioConfig": {
                "topic": name,
                "inputFormat": {"type": "json"},
                "consumerProperties": {"bootstrap.servers": "127.0.0.1:9"},
                "taskDuration": "PT1H",
            },
            "tuningConfig": {"type": "kafka", "shutdownTimeout": "PT1S"},
        },
        "suspended": True,
    }
