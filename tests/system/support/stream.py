# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stream that a supervisor reads, kept by the module."""

from __future__ import annotations

import secrets
from typing import Any

from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct
from ansible_collections.druidops.druid.tests.system.support.numbered_rows import NUMBER, SHORT_TIMEOUT, Rows

# The Overlord knows of a task that reads. One that is suspended or stopped before is killed, not asked to publish, and
# what it has read is read by the next one.
READING = "payload.activeTasks[0].startTime"


class Stream(Rows):
    """A topic, the supervisor that ingests it, and what has become of its rows."""

    def __init__(self, direct: Direct) -> None:
        super().__init__(direct.druid, f"e{secrets.token_hex(4)}")
        self.direct = direct

    def spec(self, **tuning: Any) -> dict[str, Any]:
        """Return the specification of the supervisor, with these tuning options."""
        return {
            "type": "kafka",
            "spec": {
                "dataSchema": {
                    "dataSource": self.name,
                    "timestampSpec": {"column": "ts", "format": "iso"},
                    "dimensionsSpec": {"dimensions": [NUMBER]},
                    "granularitySpec": {"segmentGranularity": "day", "rollup": False},
                },
                "ioConfig": {
                    "topic": self.name,
                    "inputFormat": {"type": "json"},
                    "consumerProperties": {"bootstrap.servers": self.kafka.address, **SHORT_TIMEOUT},
                    "useEarliestOffset": True,
                    "taskDuration": "PT1M",
                    "startDelay": "PT0S",
                    "period": "PT1S",
                },
                "tuningConfig": {"type": "kafka", "shutdownTimeout": "PT2S", **tuning},
            },
        }
