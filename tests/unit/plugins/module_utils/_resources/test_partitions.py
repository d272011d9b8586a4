# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The partitions that the status of a supervisor names."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound
from ansible_collections.druidops.druid.plugins.module_utils._resources.partitions import check_partitions, partitions
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput

SHARDS = {"shardId-0": "495", "shardId-1": "496"}


@pytest.mark.parametrize(
    ("kind", "payload", "expected"),
    [
        ("kafka", {"partitions": 3}, ["0", "1", "2"]),
        ("kafka", {"partitions": 2, "latestOffsets": {"0": 5}}, ["0", "1"]),
        ("kafka", {"partitions": 0}, []),
        ("kafka", {}, []),
        ("kafka", {"partitions": None}, []),
        ("kinesis", {"partitions": 2, "latestOffsets": SHARDS}, ["shardId-0", "shardId-1"]),
        ("kinesis", {"partitions": 3, "latestOffsets": SHARDS}, []),
        ("kinesis", {"partitions": 2}, []),
        (None, {}, []),
    ],
)
def test_partitions(kind: str | None, payload: dict[str, Any], expected: list[str]) -> None:
    assert partitions(kind, payload) == expected


class Client:
    """Answers with a supervisor and its status; None: there is no such supervisor."""

    def __init__(self, kind: str | None, payload: Any) -> None:
        self.kind, self.payload = kind, payload

    def get(self, path: str) -> dict[str, Any]:
        if self.kind is None:
            raise NotFound(404, "", "GET", path)
        return {"payload": self.payload} if path.endswith("/status") else {"type": self.kind}


@pytest.mark.parametrize(("kind", "payload"), [(None, None), ("kafka", None), ("kinesis", {"partitions": 2})])
def test_warns_if_druid_does_not_report_them(kind: str | None, payload: Any) -> None:
    client: Any = Client(kind, payload)

    warning = check_partitions(client, "a", {"0": 1, 5: 2})

    assert warning.startswith("Supervisor 'a': Druid does not report the partitions of its stream (yet)")
    assert "exist: 0, 5." in warning


def test_rejects_those_that_do_not_exist() -> None:
    client: Any = Client("kafka", {"partitions": 12})

    assert check_partitions(client, "a", {"0": 1, 11: 2}) == ""
    with pytest.raises(InvalidInput) as refusal:
        check_partitions(client, "a", {"0": 1, "12": 2, "x": 3})

    assert str(refusal.value).endswith(
        ": the stream has no partition 12, x. Its partitions: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more, the last one 11"
    )
