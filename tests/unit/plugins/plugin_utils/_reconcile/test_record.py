# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is recorded of a reconcile, and what is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import record

ARGUMENTS: dict[str, Any] = {"name": "c", "kubeconfig": None, "api_key": None, "resource": None, "log": "/l"}
READS = record.Reads(1.5, "http://c", {"/a": "a/1"}, {"Accept": "x"}, {"ready": "True"})


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "record"
    monkeypatch.setenv(record.FILE, str(path))
    return path


@pytest.mark.parametrize("reads", [READS, None])
@pytest.mark.parametrize("kubeconfig", [None, "/kubeconfig"])
def test_record_is_only_for_this_user_and_can_be_read(
    file: Path, reads: record.Reads | None, kubeconfig: str | None
) -> None:
    arguments = {**ARGUMENTS, "kubeconfig": kubeconfig}
    record.write(arguments, reads)
    assert record.from_json(file.read_text()) == record.Record(arguments, reads)
    assert file.stat().st_mode & 0o077 == 0
    assert [*file.parent.iterdir()] == [file]


@pytest.mark.parametrize(
    "other",
    [
        {"api_key": "secret"},
        {"password": "secret"},
        {"proxy_headers": {"basic_auth": "secret"}},
        {"host": "https://h"},
        {"kubeconfig": {"users": []}},
        {"resource": {"kind": "Druid"}},
        {"spec": {}},
    ],
)
def test_neither_credentials_nor_resources_are_recorded(file: Path, other: dict[str, Any]) -> None:
    record.write({**ARGUMENTS, **other}, READS)
    assert not file.exists()


def test_record_that_cannot_be_written_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(record.FILE, str(tmp_path / "missing" / "record"))
    record.write(ARGUMENTS, READS)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("text", ["", "{", "null", "[]", "[1]", "[1, 2]", "[{}, [1]]", '{"ended": 1}'])
def test_other_text_is_no_record(text: str) -> None:
    assert record.from_json(text) is None
