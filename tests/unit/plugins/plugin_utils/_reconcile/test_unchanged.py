# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which reconciles are recorded, and what repeats them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.readings import RecordingTransport
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import unchanged

NOTHING_TO_DO = {"changed": False, "requeue_after": None}
ARGUMENTS = {"name": "c", "namespace": "d", "metrics_url": None, "metrics_namespaces": [], "log": None, "url": "u"}


def meter(**requests: int) -> Meter:
    """Return the meter of a reconcile with a recording, and these requests."""
    created = Meter(recording=RecordingTransport(None, {"/a": "a/1"}, {"Accept": "x"}))  # type: ignore[arg-type]
    created.requests.update(requests or {"cache_requests": 3})
    return created


@pytest.mark.parametrize(
    ("returned", "requests", "is_repeatable"),
    [
        ({}, {}, True),
        ({"changed": True}, {}, False),
        ({"requeue_after": 5}, {}, False),
        ({"requeue_after": 0}, {}, False),
        ({"msg": "blocked"}, {}, False),
        ({}, {"cache_requests": 3, "kubernetes_writes": 0}, True),
        ({}, {"cache_requests": 3, "kubernetes_reads": 1}, False),
        ({}, {"cache_requests": 3, "druid_reads": 1}, False),
        ({}, {"cache_requests": 3, "cache_errors": 1}, False),
        ({}, {"kubernetes_reads": 3}, False),
    ],
)
def test_reconcile_is_repeatable(returned: dict[str, Any], requests: dict[str, int], is_repeatable: bool) -> None:
    assert unchanged.is_repeatable({**NOTHING_TO_DO, **returned}, meter(**requests)) == is_repeatable


def test_not_without_a_complete_recording() -> None:
    created = meter()
    created.recording.is_complete = False  # type: ignore[union-attr]
    assert not unchanged.is_repeatable(NOTHING_TO_DO, created)
    created.recording = None
    assert not unchanged.is_repeatable(NOTHING_TO_DO, created)


def test_record_is_only_for_this_user_and_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "record"
    monkeypatch.setenv(unchanged.FILE, str(file))
    unchanged.record(ARGUMENTS, json.dumps({"ready": "True"}), meter())
    found = unchanged.from_json(file.read_text())
    assert found is not None
    assert (found.readings, found.headers, found.entry) == ({"/a": "a/1"}, {"Accept": "x"}, {"ready": "True"})
    assert "url" not in found.arguments
    assert file.stat().st_mode & 0o077 == 0
    assert [*tmp_path.iterdir()] == [file]


def test_record_that_cannot_be_written_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(unchanged.FILE, str(tmp_path / "missing" / "record"))
    unchanged.record(ARGUMENTS, "{}", meter())
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("text", ["", "{", "null", "[]", "[1]", '{"ended": 1}'])
def test_other_text_is_no_record(text: str) -> None:
    assert unchanged.from_json(text) is None
