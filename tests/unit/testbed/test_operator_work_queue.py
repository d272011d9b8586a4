# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The work queue of the stand-in of ansible-operator."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.tests.testbed.operator.kinds import Key
from ansible_collections.druidops.druid.tests.testbed.operator.work_queue import WorkQueue

A, B = Key("n", "a"), Key("n", "b")


@pytest.fixture
def queue() -> WorkQueue:
    """An empty one."""
    return WorkQueue()


def test_a_key_waits_once(queue: WorkQueue) -> None:
    """However often it is added."""
    for key in (A, B, A):
        queue.add(key)
    assert [queue.get(), queue.get()] == [A, B]


def test_a_key_is_not_worked_on_twice(queue: WorkQueue) -> None:
    """Keys that are added during the work are worked on afterwards."""
    queue.add(A)
    assert queue.get() == A
    queue.add(A)
    queue.add(B)
    assert queue.get() == B
    queue.done(A)
    assert queue.get() == A


def test_the_earliest_of_several_delays_counts(queue: WorkQueue) -> None:
    """A later one does not put it off."""
    queue.add_after(A, 0)
    queue.add_after(A, 1e6)
    assert queue.get() == A


def test_a_failure_is_retried(queue: WorkQueue) -> None:
    """After a while."""
    queue.add_failed(A)
    assert queue.get() == A


def test_a_delayed_key_precedes_one_that_is_added_after_its_time(queue: WorkQueue) -> None:
    """Although no worker was free to notice that time."""
    queue.add_after(A, 0)
    queue.add(B)
    assert [queue.get(), queue.get()] == [A, B]


def test_closed(queue: WorkQueue) -> None:
    """No more keys are returned."""
    queue.add(A)
    queue.close()
    assert queue.get() is None
