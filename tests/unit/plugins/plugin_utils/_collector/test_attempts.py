# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What counts as an attempt of Helm, and as its result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._collector import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release, Revision
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import DEPLOYED_LABEL
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import Chart, Target
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons

TOO_LARGE = 'Secret "sh.helm.release.v1.telemetry.v1" is invalid: data: Too long: may not be more than 1048576 bytes'


def revision(number: int, version: str = "1.2.3", label: str = "", state: str = "deployed", **values: Any) -> Revision:
    labels = {DEPLOYED_LABEL: label} if label else {}
    return Revision({}, number, state, "c", version, "", values, (), labels=labels)


def release(number: int | None) -> Release | None:
    return None if number is None else Release((), revision(number), None)


@pytest.mark.parametrize(
    ("before", "after", "message", "expected"),
    [
        (1, 3, "an error", True),
        # an outage, another run, a missing permission
        (1, 1, "an error", False),
        (None, None, "an error", False),
        (None, 1, "an error", True),
        (1, None, "an error", False),
        # the Secret of the revision could not be created
        (1, 1, TOO_LARGE, True),
        (None, None, TOO_LARGE, True),
    ],
)
def test_attempt(before: int | None, after: int | None, message: str, expected: bool) -> None:
    assert decide.has_attempted(release(before), release(after), message) is expected


@pytest.mark.parametrize("state", ["pending-install", "pending-upgrade", "pending-rollback"])
def test_helm_that_was_killed(state: str) -> None:
    killed = Release((), revision(2, state=state), None)
    assert not decide.has_attempted(release(1), killed, "Exited -9")
    assert not decide.has_attempted(None, killed, "Exited -9")


def test_revision_that_failed() -> None:
    failed, deployed = revision(2, state="failed", a=1), revision(1, a=0)
    assert decide.failed_last(Release((), failed, deployed)) == failed
    assert decide.failed_last(Release((), failed, None)) == failed
    assert decide.failed_last(Release((), deployed, deployed)) is None
    assert decide.failed_last(None) is None


def test_module_that_did_nothing() -> None:
    desired = Target("telemetry", "ns", Chart("c", "1.2.3", "c"), {"a": True})
    assert not decide.has_deployed(desired, release(1), revision(1, a=1))
    assert decide.has_deployed(desired, release(1), revision(2, a=1))
    assert decide.has_deployed(desired, None, revision(1, a=1))
    # an interrupted revision was removed, and the one before is as specified
    assert decide.has_deployed(desired, release(1), revision(1, a=True))


def test_objects_that_an_interrupted_revision_has_left() -> None:
    def object_of(name: str) -> Manifest:
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}

    stale = replace(revision(2), manifest=tuple(map(object_of, "abc")))
    deployed = replace(revision(1), manifest=(object_of("a"),))
    found = decide.left_objects(stale, [object_of("b")], Release((), stale, deployed))
    assert [change.title for change in found] == ["delete ConfigMap c"]
    # an installation begins again
    assert len(decide.left_objects(stale, [object_of("b")], Release((), stale, None))) == 3


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
