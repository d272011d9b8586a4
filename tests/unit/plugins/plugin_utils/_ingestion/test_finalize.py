# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Druid does not stop tasks that have not yet reported a start time when it terminates their supervisor."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.finalize import contacted, not_contacted


def test_contacted_tasks_have_a_start_time_or_publish() -> None:
    active = [{"id": "reads", "startTime": "2026-01-01T00:00:00Z"}, {"id": "begins", "startTime": None}]
    assert contacted({"activeTasks": active, "publishingTasks": [{"id": "publishes"}]}) == {"reads", "publishes"}
    assert contacted({"activeTasks": None}) == frozenset()


def test_other_tasks_of_the_supervisor_are_not_contacted() -> None:
    running = [
        {"id": "reads", "type": "index_kafka", "groupId": "index_kafka_pages"},
        {"id": "begins", "type": "index_kafka", "groupId": "index_kafka_pages"},
        {"id": "of another", "type": "index_kafka", "groupId": "index_kafka_pages_2"},
        {"id": "a batch", "type": "index_parallel", "groupId": "a batch"},
        {"id": "of an old version"},
    ]
    assert not_contacted(running, "pages", {"reads"}) == ("begins",)
