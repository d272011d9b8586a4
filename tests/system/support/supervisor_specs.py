# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Specifications of streams for tests of anything else; the corpus has those that users write."""

from __future__ import annotations

from typing import Any, NamedTuple


def with_io(spec: dict[str, Any], **io: Any) -> dict[str, Any]:
    """Return the specification with other values in its ioConfig."""
    return {**spec, "spec": {**spec["spec"], "ioConfig": {**spec["spec"]["ioConfig"], **io}}}


class Case(NamedTuple):
    """The parts of a specification, as far as it differs from the smallest one."""

    schema: dict[str, Any]
    io: dict[str, Any]
    tuning: dict[str, Any]

    def spec(self, name: str, kafka: str) -> dict[str, Any]:
        """Return the specification of a supervisor that is suspended, so that it starts no task."""
        io = {"topic": name, "consumerProperties": {"bootstrap.servers": kafka}, "inputFormat": {"type": "json"}}
        parts = {
            "dataSchema": {"dataSource": name, **self.schema},
            "ioConfig": {**io, **self.io},
            "tuningConfig": {"type": "kafka", "shutdownTimeout": "PT2S", **self.tuning},
        }
        return {"type": "kafka", "spec": parts, "suspended": True}


TIME = {"timestampSpec": {"column": "ts", "format": "iso"}}
PAGE = {"dimensionsSpec": {"dimensions": ["page"]}}
DAY = {"granularitySpec": {"segmentGranularity": "day", "queryGranularity": "none", "rollup": False}}
PLAIN = {**TIME, **PAGE, **DAY}

CASES: dict[str, Case] = {
    "hardly anything": Case(PLAIN, {}, {}),
    "an autoscaler": Case(
        PLAIN,
        {
            "taskCount": 2,
            "autoScalerConfig": {
                "enableTaskAutoScaler": True,
                "taskCountMin": 1,
                "taskCountMax": "4",
                "autoScalerStrategy": "lagBased",
                "lagCollectionIntervalMillis": "30000",
            },
        },
        {},
    ),
}
