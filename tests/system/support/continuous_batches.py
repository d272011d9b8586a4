# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A client that appends native batches all the time, one after another, as a scheduler does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.tests.system.support.numbered_rows import NUMBER
from testbed.api import ApiError

_TASKS = "/druid/indexer/v1/task"
# of each batch
_ROWS = 10


@dataclass
class Batches:
    """Batches of numbered rows for a datasource.

    The id of a task is the number of its batch: one that is submitted again, because there was no response, runs once.
    `problems`: the tasks that failed.
    """

    request: Callable[..., Any]
    datasource: str
    number: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many rows are ingested."""
        return self.number * _ROWS

    def run_one(self, every_seconds: float = 0.5) -> None:
        """Run the next batch to its end; while Druid does not respond, it is asked again."""
        task = f"batch-{self.datasource}-{self.number}"
        pause = threading.Event()
        while (status := self._status(task)) is None or status["statusCode"] == "RUNNING":
            if status is None:
                with suppress(ApiError, OSError):
                    self.request("POST", _TASKS, self._batch(task))
            pause.wait(every_seconds)
        if status["statusCode"] != "SUCCESS":
            self.problems.append(f"{task}: {status['errorMsg']}")
        self.number += 1

    def _status(self, task: str) -> dict[str, Any] | None:
        with suppress(ApiError, OSError):
            found: dict[str, Any] | None = self.request("GET", f"{_TASKS}/{task}/status").get("status")
            return found
        return None

    def _batch(self, task: str) -> dict[str, Any]:
        rows = "\n".join(f"2026-01-01T00:00:00Z,{number}" for number in range(self.rows, self.rows + _ROWS))
        schema = {
            "dataSource": self.datasource,
            "timestampSpec": {"column": "ts", "format": "iso"},
            "dimensionsSpec": {"dimensions": [NUMBER]},
            "granularitySpec": {"segmentGranularity": "day", "rollup": False},
        }
        source = {
            "type": "index_parallel",
            "inputSource": {"type": "inline", "data": rows},
            "inputFormat": {"type": "csv", "columns": ["ts", NUMBER["name"]]},
            "appendToExisting": True,
        }
        return {"type": "index_parallel", "id": task, "spec": {"dataSchema": schema, "ioConfig": source}}


@contextmanager
def appended_continuously(batches: Batches) -> Iterator[None]:
    """Run batches as long as the block runs; the last one is run to its end."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(1):
            batches.run_one()

    scheduler = threading.Thread(target=run, daemon=True)
    scheduler.start()
    try:
        yield
    finally:
        ended.set()
        scheduler.join()
