# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What reads have shown, and whether others show the same."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.readings import RecordingTransport, reading
from hypothesis import given
from hypothesis import strategies as st

VERSIONS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 3)), max_size=4, unique_by=lambda each: each[0])


def listed(versions: list[tuple[str, int]]) -> bytes:
    """Return a list of objects with these uids and versions."""
    items = [{"metadata": {"uid": uid, "resourceVersion": str(version)}} for uid, version in versions]
    return json.dumps({"metadata": {"resourceVersion": "9"}, "items": items}).encode()


@given(VERSIONS, VERSIONS)
def test_lists_are_the_same_if_all_objects_have_the_same_version(
    before: list[tuple[str, int]], after: list[tuple[str, int]]
) -> None:
    assert (reading(200, listed(before)) == reading(200, listed(after))) == ({*before} == {*after})


@pytest.mark.parametrize(
    ("status", "data"),
    [
        (500, b"{}"),
        (403, b"{}"),
        (200, b"<html>"),
        (200, b"[]"),
        (200, b'{"metadata": {}}'),
        (200, b'{"items": [{"metadata": {"uid": "a"}}]}'),
        (200, b"[" * 100000),
    ],
)
def test_response_that_cannot_be_compared(status: int, data: bytes) -> None:
    assert reading(status, data) is None


def test_missing_object_differs_from_an_empty_list() -> None:
    assert reading(404, b"") not in (None, reading(200, b'{"items": null}'))


class Answers:
    """A transport that answers with these versions, one after the other."""

    def __init__(self, *versions: str) -> None:
        self._versions = [*versions]

    def request(self, _method: str, _url: str, **_arguments: Any) -> Any:
        """Answer with the next version, or fail."""
        if not self._versions:
            raise OSError("no answer")
        version = self._versions.pop(0)
        return SimpleNamespace(status=200, data=listed([("a", int(version))]) if version else b"")


@pytest.mark.parametrize(
    ("versions", "requests", "is_complete"),
    [
        (["1"], [("GET", "/a")], True),
        (["1", "2"], [("GET", "/a"), ("GET", "/b")], True),
        (["1", "1"], [("GET", "/a"), ("GET", "/a")], True),
        (["1", "2"], [("GET", "/a"), ("GET", "/a")], False),
        (["", "1"], [("GET", "/a"), ("GET", "/b")], False),
        (["1", "1"], [("PATCH", "/a"), ("GET", "/a")], False),
        (["1"], [("GET", "/a"), ("GET", "/b")], False),
    ],
)
def test_recording_is_complete_if_all_can_be_compared(
    versions: list[str], requests: list[tuple[str, str]], is_complete: bool
) -> None:
    recording = RecordingTransport(Answers(*versions), "http://cache")
    for method, url in requests:
        try:
            recording.request(method, url, headers={})
        except OSError:
            continue
    assert recording.is_complete == is_complete
