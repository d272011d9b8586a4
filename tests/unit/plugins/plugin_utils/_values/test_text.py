# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Texts of others are truncated when they are masked, so that no part of a secret is left where they are truncated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.pod_problems import (
    eviction,
    failure,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm import Helm
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reads import problem_of
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import HelmError
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import (
    BEGIN,
    END,
    MIDDLE,
    excerpt,
    masked_excerpts,
)

SECRET = "hunter2"
POD: dict[str, Any] = {"metadata": {"name": "p", "namespace": "ns"}}


def crashed(text: str) -> str:
    """The termination message of a container."""
    ended = {"exitCode": 1, "message": text}
    container = {"name": "c", "restartCount": 5, "lastState": {"terminated": ended}, "state": {"waiting": {}}}
    return next(failure({**POD, "status": {"containerStatuses": [container]}}))


def evicted(text: str) -> str:
    return eviction({**POD, "status": {"phase": "Failed", "message": text}})


def event(text: str) -> str:
    about = {"kind": "Pod", "name": "telemetry-0"}
    found = {"metadata": {}, "involvedObject": about, "lastTimestamp": "2026", "reason": "Failed", "message": text}
    return problem_of([found], "telemetry", "2025")


def helm(text: str) -> str:
    failing = Helm(lambda *_call: {"failed": True, "stderr": f"Error: {text}"}, {}, {}, temporary="/tmp")
    with pytest.raises(HelmError) as raised:
        failing.uninstall("telemetry", "tenant")
    return str(raised.value)


def failed_attempt(text: str) -> str:
    """The status truncates what is truncated already."""
    return excerpt(helm(text), 1024, MIDDLE)


# (source, the largest number of characters that it adds, and keeps)
SOURCES: list[tuple[Callable[[str], str], int]] = [
    (crashed, 320),
    (evicted, 230),
    (event, 340),
    (helm, 2010),
    (failed_attempt, 1024),
]


@pytest.mark.parametrize(("source", "length"), SOURCES)
def test_no_part_of_a_secret_is_left_where_a_text_is_truncated(source: Callable[[str], str], length: int) -> None:
    for position in range(0, 4000, 3):
        text = "x" * position + SECRET + "x" * (4000 - position)
        found = masked_excerpts(source(text), lambda whole: whole.replace(SECRET, "****"))
        assert not [part for part in ("hu", "nte", "er2") if part in found.replace("container", "")]
        assert len(found) <= length


@pytest.mark.parametrize(
    ("part", "expected"), [(BEGIN, "abcdefghi"), (END, "rstuvwxyz"), (MIDDLE, "abc ... z"), ("", "abcdefghi")]
)
def test_part_that_is_kept(part: str, expected: str) -> None:
    text = "abcdefghijklmnopqrstuvwxyz"
    marked = excerpt(text, 9, part) if part else excerpt(text, 9)
    assert masked_excerpts(f"<{marked}>", str) == f"<{expected}>"
    assert masked_excerpts(f"<{excerpt(text, 26)}>", str) == f"<{text}>"
    # what is masked may be short enough then
    assert masked_excerpts(excerpt(text, 9), lambda whole: whole.replace(text, "****")) == "****"


@pytest.mark.parametrize(
    "mark", ["\ue0f0", "\ue0f3", "\U000f0000", f"\ue0f0end {'9' * 5000}\ue0f1z\ue0f2", "\ue0f0\U000f00c8"]
)
def test_marks_that_others_write_are_removed(mark: str) -> None:
    found = masked_excerpts(f"<{excerpt(mark + 'x' * 700, 200)}>", str)
    assert len(found) <= 202
    assert not [each for each in found if "\ue0f0" <= each <= "\ue0f3" or each >= "\U000f0000"]
    # in a text without an excerpt
    assert masked_excerpts(f"a{mark[0]}b", str) == "ab"


def test_a_secret_like_a_length_is_masked_and_the_text_truncated() -> None:
    for secret in ("2000", "1024", "beginning", "middle"):
        found = masked_excerpts(excerpt(f"{secret} {'x' * 3000}", 2000), lambda whole: whole.replace(secret, "****"))  # noqa: B023
        assert (found[:5], len(found)) == ("**** ", 2000)
