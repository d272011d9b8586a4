# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What makes a part of Druid unavailable is told before, and each warning once by an event."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan_output import lines
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.simulator.specification import NEW_IMAGE, Cluster, Group
from ansible_collections.druidops.druid.tests.unit.simulator.actions import Action, Create, Edit, Rename, Run
from ansible_collections.druidops.druid.tests.unit.simulator.invariants import Observer

DELETES = Cluster({"brokers": Group(when_deleted="Delete"), "historicals": Group()})


def warned(observer: Observer) -> dict[str, int]:
    """Return the messages of the warning events about the spec, with their counts."""
    found = observer.subject.world.store.of_kind("Event")
    return {each["message"]: each["count"] for each in found if each["reason"] == reasons.SPEC_WARNING}


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (Rename("brokers", "brokers-hot"), "StatefulSet druid-c-brokers is deleted without waiting for the pods"),
        (Edit("service", "%s-b", "brokers"), "the names under it of the pods druid-c-brokers-0, druid-c-brokers-1 no"),
    ],
    ids=str,
)
def test_a_step_that_makes_druid_unavailable(action: Action, words: str) -> None:
    observer = Observer("operator")
    observer.act(Create(Cluster()))
    observer.converge()
    observer.act(action)
    planned = observer.subject.run("playbook", check_mode=True)
    assert planned is not None
    assert [text for text in lines(planned.plan) if text.startswith("warning: ") and words in text]
    assert [text for text in planned.warnings if words in text]
    assert warned(observer) == {}
    observer.act(Run("operator"))
    [message] = warned(observer)
    assert words in message


def test_a_change_without_that_has_no_warning() -> None:
    observer = Observer("operator")
    observer.act(Create(Cluster()))
    observer.converge()
    observer.act(Edit("image", NEW_IMAGE))
    observer.act(Run("operator"))
    assert warned(observer) == {}


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
    live = observer.subject.live
    assert live is not None
    assert "Warnings" not in [each["type"] for each in live["status"]["conditions"]]
    assert warned(observer) == {message: 1}
