# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What counts as an attempt of Helm, and as its result."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._collector import decide, names
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release, Revision
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.target import Chart, Target
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons

UNINSTALLED = "release telemetry failed, and has been uninstalled due to atomic being set: timed out"


def revision(number: int, version: str = "1.2.3", label: str = "") -> Revision:
    labels = {names.DEPLOYED_LABEL: label} if label else {}
    return Revision({}, number, "deployed", "c", version, "", {}, (), labels=labels)


def release(number: int | None) -> Release | None:
    return None if number is None else Release((), revision(number), None)


@pytest.mark.parametrize(
    ("before", "after", "message", "expected"),
    [
        (1, 3, "an error", True),
        # an outage, another run, a missing permission
        (1, 1, "an error", False),
        (None, None, "an error", False),
        (None, None, UNINSTALLED, True),
        (None, 1, "an error", True),
        (1, None, UNINSTALLED, False),
    ],
)
def test_attempt(before: int | None, after: int | None, message: str, expected: bool) -> None:
    assert decide.has_attempted(release(before), release(after), message) is expected


def test_repository_that_returns_another_version() -> None:
    desired = Target("telemetry", "ns", Chart("c", "1.2.3+up1", "c"), {})
    returned = revision(1)
    assert decide.is_deployed(desired, Release((), returned, returned)) is None
    labelled = revision(1, label=decide.deployed_label(desired, returned))
    # it is not deployed again
    assert decide.is_deployed(desired, Release((), labelled, labelled)) == labelled
    [finding] = decide.chart_mismatch(desired, labelled)
    assert (finding.reason, "version 1.2.3 of c" in finding.message) == (reasons.INVALID_SPEC, True)
    assert decide.chart_mismatch(Target("telemetry", "ns", Chart("c", "1.2.3", "c"), {}), labelled) == ()
    # another chart with the same version and values is another one
    other = Target("telemetry", "ns", Chart("d", "1.2.3+up1", "d"), {})
    assert decide.is_deployed(other, Release((), labelled, labelled)) is None
