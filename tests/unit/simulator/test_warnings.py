# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Steps that make a part of Druid unavailable are announced before, and each warning is one event."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan_output import lines
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.simulator.specification import NEW_IMAGE, Cluster, Group
from ansible_collections.druidops.druid.tests.unit.simulator.actions import Action, Create, Edit, Run
from ansible_collections.druidops.druid.tests.unit.simulator.invariants import Observer

DELETES = Cluster({"brokers": Group(when_deleted="Delete"), "historicals": Group()})


BOTH = (reasons.SPEC_WARNING, reasons.ROLLOUT_WARNING)


def warned(observer: Observer, *expected: str) -> dict[str, int]:
    """Return the messages of the events with these reasons, with their counts."""
    found = observer.subject.world.store.of_kind("Event")
    return {each["message"]: each["count"] for each in found if each["reason"] in (expected or BOTH)}


def message_of(observer: Observer, kind: str) -> str | None:
    """Return the message of a condition; None if there is none."""
    live = observer.subject.live
    assert live is not None
    return next((each["message"] for each in live["status"]["conditions"] if each["type"] == kind), None)


# A tag that is not a version.
LATEST = Edit("image", "apache/druid:latest")
UNKNOWN = "the tag of image apache/druid:latest is not a version"


def test_an_unknown_version_is_reported_before_the_rollout_and_with_it() -> None:
    observer = Observer("operator")
    observer.act(Create(Cluster(rolls=True)))
    observer.converge()
    observer.act(LATEST)
    planned = observer.subject.run("playbook", check_mode=True)
    assert planned is not None
    assert [text for text in lines(planned.plan) if text.startswith("warning: ") and UNKNOWN in text]
    assert [text for text in planned.warnings if UNKNOWN in text]
    assert warned(observer) == {}
    observer.act(Run("operator"))
    [message] = warned(observer, reasons.ROLLOUT_WARNING)
    assert UNKNOWN in message
    assert message_of(observer, "RolloutWarnings") == message


def test_a_retained_service_is_reported_once_and_as_long_as_it_stays() -> None:
    observer = Observer("operator")
    observer.act(Create(Cluster()))
    observer.converge()
    observer.act(Edit("service", "%s-b", "brokers"))
    text = "Service druid-c-brokers was removed from the spec, but is retained"
    for _time in range(3):
        observer.act(Run("operator"))
        assert text in str(message_of(observer, "Warnings"))
    observer.converge()
    assert message_of(observer, "Warnings") is None
    assert list(warned(observer, reasons.SPEC_WARNING).values()) == [1]


def test_the_warning_lasts_as_long_as_pods_are_being_changed() -> None:
    observer = Observer("operator")
    observer.act(Create(Cluster(rolls=True)))
    observer.converge()
    observer.act(LATEST)
    for _time in range(3):
        observer.act(Run("operator"))
        assert UNKNOWN in str(message_of(observer, "RolloutWarnings"))
    assert list(warned(observer).values()) == [1]
    observer.converge()
    assert message_of(observer, "RolloutWarnings") is None
    assert list(warned(observer).values()) == [1]


def test_a_paused_cluster_has_the_warning_of_what_is_pending() -> None:
    observer = Observer("operator")
    observer.act(Create(Cluster(rolls=True)))
    observer.converge()
    observer.act(Edit("paused", True))
    observer.act(LATEST)
    for _time in range(3):
        observer.act(Run("operator"))
        assert UNKNOWN in str(message_of(observer, "RolloutWarnings"))
    assert list(warned(observer, reasons.ROLLOUT_WARNING).values()) == [1]


@pytest.mark.parametrize(
    ("rolls", "action"),
    [
        (False, LATEST),
        (True, Edit("image", NEW_IMAGE)),
        (True, Edit("replicas", 3, "brokers")),
        (True, Edit("replicas", 1, "brokers")),
    ],
)
def test_a_change_without_that_has_no_warning(rolls: bool, action: Action) -> None:
    observer = Observer("operator")
    observer.act(Create(Cluster(rolls=rolls)))
    observer.converge()
    observer.act(action)
    observer.act(Run("operator"))
    assert warned(observer) == {}
    assert message_of(observer, "RolloutWarnings") is None


def test_a_lasting_warning_is_one_event_and_a_condition() -> None:
    observer = Observer("operator")
    observer.act(Create(DELETES))
    observer.converge()
    observer.act(Edit("keeps_pvcs", True))
    for _time in range(4):
        observer.act(Run("operator"))
    [(message, count)] = warned(observer).items()
    assert message.startswith("spec.nodes[brokers]: persistentVolumeClaimRetentionPolicy.whenDeleted: Delete has no")
    assert count == 1
    live = observer.subject.live
    assert live is not None
    [condition] = [each for each in live["status"]["conditions"] if each["type"] == "Warnings"]
    assert (condition["status"], condition["reason"], condition["message"]) == ("True", reasons.SPEC_WARNING, message)
    observer.act(Edit("keeps_pvcs", False))
    observer.act(Run("operator"))
    assert message_of(observer, "Warnings") is None
    assert warned(observer) == {message: 1}


def test_more_warnings_than_the_condition_has_are_one_event_each() -> None:
    observer = Observer("operator")
    observer.act(
        Create(Cluster({f"brokers-{number}": Group(replicas=1, when_deleted="Delete") for number in range(7)}))
    )
    observer.converge()
    observer.act(Edit("keeps_pvcs", True))
    observer.converge()
    for replicas in (2, 3):
        observer.act(Edit("replicas", replicas, "brokers-0"))
        observer.converge()
    assert str(message_of(observer, "Warnings")).endswith(" | and 2 more")
    assert list(warned(observer, reasons.SPEC_WARNING).values()) == [1] * 7


def test_a_new_warning_that_the_condition_only_counts_is_one_event() -> None:
    """One ends and another one begins, so that the number of the hidden ones stays."""
    keys = [f"brokers-{number}" for number in range(8)]
    observer = Observer("operator")
    observer.act(
        Create(Cluster({key: Group(replicas=1, when_deleted="Retain" if key == keys[7] else "Delete") for key in keys}))
    )
    observer.converge()
    observer.act(Edit("keeps_pvcs", True))
    observer.converge()
    message = message_of(observer, "Warnings")
    observer.act(Edit("when_deleted", "Retain", keys[6]))
    observer.act(Edit("when_deleted", "Delete", keys[7]))
    observer.converge()
    assert message_of(observer, "Warnings") == message
    reported = warned(observer, reasons.SPEC_WARNING)
    assert [*reported.values()] == [1] * 8
    assert [text for text in reported if keys[7] in text] != []
    for key in keys[:6]:
        observer.act(Edit("when_deleted", "Retain", key))
        observer.converge()
    assert warned(observer, reasons.SPEC_WARNING) == reported
    assert observer.subject.live is not None
    assert "hiddenWarnings" not in observer.subject.live["status"]


@pytest.mark.parametrize("has_labels", [True, False])
def test_pvcs_that_stay_too_small_are_a_lasting_warning(has_labels: bool) -> None:
    observer = Observer("operator")
    observer.act(Create(Cluster()))
    observer.converge()
    store = observer.subject.world.store
    for claim in store.of_kind("PersistentVolumeClaim"):
        store.update_metadata(claim, labels=claim["metadata"]["labels"] if has_labels else {})
    observer.act(Edit("storage", "4Gi", "brokers"))
    planned = observer.subject.run("playbook", check_mode=True)
    assert planned is not None
    [warning] = [text for text in planned.warnings if "scalePvcSts is false" in text]
    assert "data-druid-c-brokers-0 (1Gi), data-druid-c-brokers-1 (1Gi)" in warning
    observer.converge()
    assert message_of(observer, "Warnings") == warning
    assert warned(observer, reasons.SPEC_WARNING) == {warning: 1}
    observer.act(Edit("storage", "1Gi", "brokers"))
    observer.converge()
    assert message_of(observer, "Warnings") is None
