# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which tasks are not told to end when their supervisor is terminated."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.finalize import contacted, not_contacted


def test_a_task_is_spoken_to_once_it_has_said_since_when_it_reads() -> None:
    active = [{"id": "reads", "startTime": "2026-01-01T00:00:00Z"}, {"id": "begins", "startTime": None}]
    assert contacted({"activeTasks": active, "publishingTasks": [{"id": "publishes"}]}) == {"reads", "publishes"}
    assert contacted({"activeTasks": None}) == frozenset()


def test_the_others_of_the_supervisor_are_not_told() -> None:
    running = [
        {"id": "reads", "type": "index_kafka", "groupId": "index_kafka_pages"},
        {"id": "begins", "type": "index_kafka", "groupId": "index_kafka_pages"},
        {"id": "of another", "type": "index_kafka", "groupId": "index_kafka_pages_2"},
        {"id": "a batch", "type": "index_parallel", "groupId": "a batch"},
        {"id": "of an old version"},
    ]
    assert not_contacted(running, "pages", {"reads"}) == ("begins",)
