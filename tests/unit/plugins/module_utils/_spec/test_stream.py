# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a supervisor reads, by its type."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.stream import stream_name, stream_of


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ({"type": "kafka", "spec": {"ioConfig": {"topic": "a", "stream": "b"}}}, "a"),
        ({"type": "kafka", "spec": {"ioConfig": {"topicPattern": "a.*"}}}, None),
        ({"type": "kinesis", "spec": {"ioConfig": {"stream": "a"}}}, "a"),
        ({"type": "rabbit", "spec": {"ioConfig": {"stream": "a"}}}, "a"),
        ({"type": "autocompact", "spec": {"dataSource": "a"}}, None),
        ({}, None),
    ],
)
def test_stream_name(spec: dict[str, Any], name: str | None) -> None:
    assert stream_name(spec) == name


@pytest.mark.parametrize("kind", ["autocompact", "scheduled_batch", "", None, ["kafka"], {}, 1])
def test_no_stream(kind: Any) -> None:
    assert stream_of({"type": kind}) is None
