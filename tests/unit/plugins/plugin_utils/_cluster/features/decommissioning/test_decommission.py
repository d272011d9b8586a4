# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The decommissioning of Historicals: what stays, what is in Druid's list, and what is recorded."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources.decommissioning import (
    HistoricalServer,
    TooSmall,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.decommission import (
    Decommission,
    decommission,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.record import Entry
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.situation import (
    InDruid,
    LeavingPod,
    ShrinkingGroup,
    Situation,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)


def ago(seconds: int) -> str:
    return timestamp(NOW - timedelta(seconds=seconds))


def server(number: int, used: int = 100, **more: Any) -> HistoricalServer:
    return HistoricalServer(f"h-{number}:8083", more.pop("tier", "hot"), used, more.pop("capacity", 1000), **more)


def leaving(number: int, known: HistoricalServer | None, is_ready: bool = True) -> LeavingPod:
    return LeavingPod(f"h-{number}", number, is_ready, known)


def entry(number: int, started: int = 60, **more: Any) -> Entry:
    return Entry(f"h-{number}", "historicals", ago(started), **{"server": f"h-{number}:8083", **more})


def situation(
    servers: dict[int, HistoricalServer], record: tuple[Entry, ...] = (), replicas: int = 1, **more: Any
) -> Situation:
    """A group of three pods, of which those from `replicas` on are to stop; our names are in an annotation."""
    ready = more.pop("ready", True)
    pods = tuple(leaving(number, servers.get(number), ready) for number in range(replicas, 3))
    group = ShrinkingGroup(
        "historicals", replicas, pods, 3600, more.pop("shrinks", False), restart=more.pop("restart", 120)
    )
    druid = InDruid(tuple(servers.values()), frozenset(more.pop("listed", ())))
    existing = frozenset(more.pop("existing", (pod.name for pod in pods)))
    ours = frozenset(each.server for each in record if each.server and each.is_ours)
    found = Situation((group,), existing, record, more.pop("druid", druid), NOW, annotated=ours)
    return replace(found, **more)


THREE = {number: server(number) for number in range(3)}
EMPTY_LAST = {**THREE, 2: server(2, 0)}


def test_begins_with_the_record_and_writes_nothing_to_druid() -> None:
    decided = decommission(situation(THREE))
    assert decided.replicas == {"historicals": 3}
    assert decided.record == (entry(1, 0, bytes=100), entry(2, 0, bytes=100))
    assert (decided.added, decided.removed) == (set(), set())
    assert decided.due == {"h-1:8083", "h-2:8083"}


@pytest.mark.parametrize(
    ("annotated", "listed", "added", "ours"),
    [
        pytest.param({"h-1:8083"}, [], {"h-1:8083"}, {"h-1:8083"}, id="one name is only in the status"),
        pytest.param(set(), ["h-2:8083"], set(), {"h-2:8083"}, id="an older version has added a name"),
    ],
)
def test_only_a_name_in_an_annotation_is_added(
    annotated: set[str], listed: list[str], added: set[str], ours: set[str]
) -> None:
    found = situation(THREE, (entry(1), entry(2)), listed=listed, annotated=frozenset(annotated))
    decided = decommission(found)
    assert (decided.added, decided.ours) == (added, ours)
    assert decided.removed == set()


def test_adds_the_names_of_the_stored_record() -> None:
    decided = decommission(situation(THREE, (entry(1), entry(2)), listed=["h-1:8083", "other:8083"]))
    assert decided.added == {"h-2:8083"}
    assert decided.removed == set()


@pytest.mark.parametrize(
    ("record", "listed", "expected"),
    [
        # the first reading, and the second one
        (entry(2), ["h-2:8083"], 3),
        (entry(2, bytes=0, empty_since=ago(10)), ["h-2:8083"], 2),
        (entry(2, bytes=0, empty_since=ago(9)), ["h-2:8083"], 3),
        # not in Druid's list: the next moment it may get segments
        (entry(2, bytes=0, empty_since=ago(10)), [], 3),
        # it was unknown to Druid until now: it may be about to announce its segments
        (entry(2, empty_since=ago(180)), ["h-2:8083"], 3),
    ],
)
def test_a_pod_that_is_empty_in_two_readings_stops(record: Entry, listed: list[str], expected: int) -> None:
    decided = decommission(situation(EMPTY_LAST, (entry(1), record), listed=listed))
    assert decided.replicas == {"historicals": expected}


def test_an_empty_pod_before_one_with_segments_stays() -> None:
    servers = {**THREE, 1: server(1, 0)}
    record = (entry(1, bytes=0, empty_since=ago(60)), entry(2))
    decided = decommission(situation(servers, record, listed=["h-1:8083", "h-2:8083"]))
    assert decided.replicas == {"historicals": 3}


NO_SEGMENTS = {number: server(number, 0) for number in range(3)}
_LAST = frozenset({"h-2:8083"})


@pytest.mark.parametrize(
    ("servers", "more"),
    [
        pytest.param({**THREE, 2: server(2, 0, queued=1)}, {}, id="its load queue is not empty"),
        pytest.param(EMPTY_LAST, {"druid": None}, id="Druid does not answer"),
        pytest.param({0: server(0)}, {}, id="the pod is ready, but Druid does not know it"),
        pytest.param(
            EMPTY_LAST,
            {"druid": InDruid(tuple(EMPTY_LAST.values()), _LAST, unknown=("h-1",))},
            id="Druid does not know all other pods yet",
        ),
    ],
)
def test_a_reading_that_is_in_doubt_does_not_count(servers: dict[int, HistoricalServer], more: dict[str, Any]) -> None:
    found = situation(servers, (entry(2, bytes=0, empty_since=ago(60)),), 2, listed=_LAST, **more)
    decided = decommission(found)
    assert decided.replicas == {"historicals": 3}
    assert [each.empty_since for each in decided.record] == [None]


@pytest.mark.parametrize("servers", [EMPTY_LAST, NO_SEGMENTS], ids=["the others have segments", "the tier has none"])
@pytest.mark.parametrize(
    ("unavailable", "since", "expected"),
    [(0, 10, 2), (0, 9, 3), (None, 120, 2), (None, 119, 3), (3, 120, 2), (3, 119, 3)],
)
def test_segments_that_are_not_available_may_be_on_a_server_that_seems_empty(
    servers: dict[int, HistoricalServer], unavailable: int | None, since: int, expected: int
) -> None:
    """A Coordinator that has not read a server yet reports it as empty, and its segments as not available."""
    druid = InDruid(tuple(servers.values()), _LAST, unavailable=unavailable)
    confirmed = ago(60) if since > 60 else None
    record = entry(2, bytes=0, empty_since=ago(since), confirmed_at=confirmed)
    found = situation(servers, (record,), 2, druid=druid)
    assert decommission(found).replicas == {"historicals": expected}


@pytest.mark.parametrize(
    ("since", "confirmed", "expected"),
    [
        (300, None, (3, 300, 0)),
        (29, None, (3, 29, None)),
        (30, None, (3, 30, 0)),
        (150, 29, (3, 150, 29)),
        (150, 30, (2, 150, 30)),
    ],
)
def test_a_doubtful_reading_is_confirmed_by_two_later_ones(
    since: int, confirmed: int | None, expected: tuple[int, int, int | None]
) -> None:
    """Of two readings, however far apart, each may be that of a Coordinator that has just restarted."""
    record = entry(2, bytes=0, empty_since=ago(since), confirmed_at=ago(confirmed) if confirmed is not None else None)
    druid = InDruid(tuple(EMPTY_LAST.values()), _LAST, unavailable=3)
    decided = decommission(situation(EMPTY_LAST, (record,), 2, druid=druid))
    replicas, first, second = expected
    assert decided.replicas == {"historicals": replicas}
    times = (decided.record[0].empty_since, decided.record[0].confirmed_at)
    assert times == (ago(first), ago(second) if second is not None else None)


def test_the_time_of_a_pod_that_was_empty_does_not_count_when_it_is_lost() -> None:
    """It may have got segments since."""
    servers = {0: server(0), 1: server(1)}
    record = (entry(2, 700, bytes=0, empty_since=ago(600)),)
    found = situation(servers, record, 2, ready=False, restart=600, druid=InDruid(tuple(servers.values())))
    decided = decommission(found)
    assert decided.replicas == {"historicals": 3}
    assert [each.empty_since for each in decided.record] == [ago(0)]


@pytest.mark.parametrize("unavailable", [0, 3, None])
@pytest.mark.parametrize(("since", "expected"), [(119, 3), (599, 3), (600, 2)])
def test_a_deleted_pod_counts_as_empty_when_a_restart_would_be_over(
    since: int, expected: int, unavailable: int | None
) -> None:
    servers = {0: server(0), 1: server(1)}
    record = (entry(2, 700, empty_since=ago(since), confirmed_at=ago(60)),)
    druid = InDruid(tuple(servers.values()), unavailable=unavailable)
    found = situation(servers, record, 2, ready=False, restart=600, druid=druid)
    assert decommission(found).replicas == {"historicals": expected}


@pytest.mark.parametrize(
    ("started", "shrinks", "druid", "expected"),
    [
        (3600, True, True, 1),
        (3599, True, True, 3),
        (3600, False, True, 3),
        (3600, True, False, 1),
    ],
)
def test_the_policy_decides_when_the_time_is_over(started: int, shrinks: bool, druid: bool, expected: int) -> None:
    record = (entry(1, started), entry(2, started))
    found = situation(THREE, record, shrinks=shrinks, listed=["h-1:8083", "h-2:8083"])
    decided = decommission(found if druid else replace(found, druid=None))
    assert decided.replicas == {"historicals": expected}
    is_late = started == 3600 and not shrinks
    assert decided.late == ({"historicals": ("h-1", "h-2")} if is_late else {})


def test_too_little_room_is_found_before_anything_moves() -> None:
    full = {number: server(number, 400) for number in range(3)}
    decided = decommission(situation(full))
    assert decided.too_small == {"historicals": TooSmall("hot", 1200, 1000)}
    assert decided.record == tuple(entry(number, 0, server=None, bytes=400) for number in (1, 2))
    assert decided.due == set()


def test_a_server_that_others_decommission_is_no_room() -> None:
    servers = {**{number: server(number, 400) for number in range(3)}, 9: server(9, 0)}
    assert decommission(situation(servers, replicas=2, listed=["h-9:8083"])).too_small == {}
    assert decommission(situation(servers, replicas=1)).too_small == {}
    assert decommission(situation(servers, replicas=1, listed=["h-9:8083"])).too_small != {}


SWAPPED = Entry("b-0", "b", ago(60), "h-9:8083", 0)


@pytest.mark.parametrize(
    ("record", "staying", "specified", "is_room"),
    [
        pytest.param(SWAPPED, {"h-9:8083"}, set(), True, id="our entry of a pod that stays after all"),
        pytest.param(replace(SWAPPED, listed_by_others=True), {"h-9:8083"}, set(), False, id="an entry of others"),
        pytest.param(SWAPPED, {"h-9:8083"}, {"h-9:8083"}, False, id="a specified entry"),
        pytest.param(SWAPPED, set(), set(), False, id="our entry of a pod that stops"),
    ],
)
def test_an_entry_of_ours_that_is_to_be_removed_is_not_one_of_others(
    record: Entry, staying: set[str], specified: set[str], is_room: bool
) -> None:
    servers = (*THREE.values(), server(9, 0))
    druid = InDruid(servers, frozenset({"h-9:8083"}), frozenset(specified))
    decided = decommission(situation(THREE, (record,), 0, druid=druid, staying=frozenset(staying)))
    assert decided.replicas == {"historicals": 3 if is_room else 0}


def test_another_tier_is_no_room() -> None:
    servers = {**{number: server(number, 400) for number in range(3)}, 9: server(9, 0, tier="cold")}
    assert decommission(situation(servers)).too_small != {}


def test_what_has_begun_goes_on_when_there_is_too_little_room() -> None:
    full = {number: server(number, 400) for number in range(3)}
    decided = decommission(situation(full, (entry(2),)))
    assert decided.too_small != {}
    assert decided.added == {"h-2:8083"}


def test_a_whole_group_stops_at_once_if_there_is_nothing_to_move_to() -> None:
    decided = decommission(situation(THREE, replicas=0))
    assert (decided.replicas, decided.due) == ({"historicals": 0}, set())


def test_a_whole_group_is_moved_to_others_of_its_tier() -> None:
    servers = {**THREE, 9: server(9, 0)}
    decided = decommission(situation(servers, replicas=0))
    assert decided.replicas == {"historicals": 3}
    assert decided.due == {f"h-{number}:8083" for number in range(3)}


def test_a_whole_group_stays_as_long_as_druid_does_not_know_a_pod() -> None:
    assert decommission(situation({0: server(0)}, replicas=0)).replicas == {"historicals": 3}


@pytest.mark.parametrize(
    ("absent", "record", "known", "expected"),
    [
        pytest.param((), (), True, 0, id="nothing to move to"),
        pytest.param(("h-9",), (), True, 3, id="a pod that stays may be of the tier"),
        pytest.param((), (entry(2),), True, 3, id="segments are being moved, so that there was something to move to"),
        pytest.param((), (entry(2, server=None),), True, 0, id="only the time has begun"),
        pytest.param((), (), False, 3, id="the tier is unknown"),
    ],
)
def test_a_whole_group_stops_at_once_only_if_nothing_is_in_doubt(
    absent: tuple[str, ...], record: tuple[Entry, ...], known: bool, expected: int
) -> None:
    servers = THREE if known else {}
    druid = InDruid(tuple(servers.values()), frozenset({"h-2:8083"}), absent=absent)
    decided = decommission(situation(servers, record, 0, druid=druid, ready=known))
    assert decided.replicas == {"historicals": expected}
    # It has not begun, so that it stops at once when Druid knows the other pod, which is of another tier.
    assert (decided.due, decided.unknown) == (frozenset(), absent)


def taken_back(record: tuple[Entry, ...], listed: list[str], **more: Any) -> Decommission:
    """No group shrinks any more."""
    return decommission(situation(THREE, record, groups=(), listed=listed, **more))


def test_a_change_that_is_taken_back_takes_the_names_out_at_once() -> None:
    decided = taken_back((entry(1), entry(2)), ["h-1:8083", "h-2:8083", "other:8083"], existing=())
    assert decided.removed == {"h-1:8083", "h-2:8083"}
    assert decided.record == (entry(1, ended=True), entry(2, ended=True))


@pytest.mark.parametrize(
    ("since", "expected"),
    [
        pytest.param(None, [entry(1, ended=True, unlisted_since=timestamp(NOW))], id="the first reading"),
        pytest.param(89, [entry(1, ended=True, unlisted_since=ago(89))], id="soon after"),
        pytest.param(90, [], id="later"),
    ],
)
def test_the_record_ends_when_two_readings_do_not_have_the_name(since: int | None, expected: list[Entry]) -> None:
    record = (entry(1, unlisted_since=None if since is None else ago(since)), entry(2))
    decided = taken_back(record, ["h-2:8083"], existing=())
    assert decided.record == (*expected, entry(2, ended=True))
    assert decided.removed == {"h-2:8083"}


def test_a_name_that_only_the_next_coordinator_lists_is_removed() -> None:
    decided = taken_back((entry(1, ended=True, unlisted_since=ago(30)),), ["h-1:8083"], existing=())
    assert (decided.removed, decided.record) == ({"h-1:8083"}, (entry(1, ended=True),))


def test_a_pod_that_is_to_stop_again_does_not_count_as_removed() -> None:
    record = (entry(2, 999, ended=True, unlisted_since=ago(30)),)
    decided = decommission(situation(THREE, record, 2))
    assert (decided.added, decided.record) == ({"h-2:8083"}, (entry(2, 0, bytes=100),))
    silent = decommission(situation({}, record, 2, druid=None))
    assert silent.record == (entry(2, 0),)


def test_a_former_address_of_a_pod_that_is_to_stop_again_does_not_shorten_its_time() -> None:
    """Its name is about to be removed: that was another decommissioning."""
    former = entry(2, 999, server="former:8083", ended=True)
    record = (entry(2, 999, ended=True), former)
    decided = decommission(situation(THREE, record, 2, listed=["h-2:8083", "former:8083"]))
    assert decided.record == (entry(2, 0, bytes=100), former)
    again = decommission(situation(THREE, decided.record, 2, listed=["h-2:8083", "former:8083"]))
    assert again.record == decided.record


def test_a_pod_that_is_to_stop_again_needs_room() -> None:
    full = {number: server(number, 600) for number in range(3)}
    decided = decommission(situation(full, (entry(2, 999, ended=True),), 2, listed=["h-2:8083"]))
    assert decided.too_small == {}
    full[0] = server(0, 1500)
    decided = decommission(situation(full, (entry(2, 999, ended=True),), 2, listed=["h-2:8083"]))
    assert decided.too_small != {}
    assert (decided.added, decided.removed) == (set(), {"h-2:8083"})
    assert decided.replicas == {"historicals": 3}


def test_the_record_stays_while_druid_does_not_answer() -> None:
    left = taken_back((entry(1, 9999, bytes=0, empty_since=ago(60)),), [], existing=(), druid=None).record
    assert left == (entry(1, 9999, ended=True, bytes=0),)
    # The same in each reconcile: a record that changes would be written again and again.
    assert taken_back(left, [], existing=(), druid=None).record == left
    again = decommission(situation(THREE, left, 1, shrinks=True, listed=["h-1:8083"]))
    assert again.replicas == {"historicals": 3}
    assert again.record[0] == entry(1, 0, bytes=100)


@pytest.mark.parametrize("shrinks", [True, False])
def test_the_limit_of_a_pod_with_another_address_goes_on_while_druid_does_not_answer(shrinks: bool) -> None:
    record = (entry(2, 3599, server="10.0.0.9:8083"), entry(2, 3599))
    found = situation({}, record, 2, shrinks=shrinks, druid=None)
    first = decommission(found)
    assert first.record == record
    later = decommission(replace(found, record=first.record, now=NOW + timedelta(seconds=1)))
    assert later.replicas == {"historicals": 2 if shrinks else 3}
    assert later.late == ({} if shrinks else {"historicals": ("h-2",)})


def test_the_name_stays_until_the_pod_is_deleted() -> None:
    decided = taken_back((entry(2),), ["h-2:8083"], existing=["h-2"])
    assert (decided.removed, decided.record) == (set(), (entry(2),))


def test_a_name_of_others_stays() -> None:
    begun = decommission(situation(THREE, replicas=2, listed=["h-2:8083"]))
    assert begun.record == (entry(2, 0, bytes=100, listed_by_others=True),)
    assert taken_back(begun.record, ["h-2:8083"], existing=()) == Decommission()


def test_a_name_that_others_remove_meanwhile_becomes_ours() -> None:
    first = decommission(situation(THREE, (entry(2, listed_by_others=True),), 2))
    expected = entry(2, bytes=100, listed_by_others=True, unlisted_since=timestamp(NOW))
    assert (first.added, first.record) == (set(), (expected,))
    soon = situation(THREE, first.record, 2, now=NOW + timedelta(seconds=89))
    assert decommission(soon).record == first.record
    # The Coordinator that answered had not read the list yet.
    again = decommission(replace(soon, druid=InDruid(tuple(THREE.values()), frozenset({"h-2:8083"}))))
    assert again.record == (entry(2, bytes=100, listed_by_others=True),)
    later = decommission(situation(THREE, first.record, 2, now=NOW + timedelta(seconds=90)))
    assert (later.added, later.record) == (set(), (entry(2, bytes=100),))
    assert decommission(situation(THREE, later.record, 2)).added == {"h-2:8083"}


def test_a_name_that_the_resource_specifies_stays() -> None:
    druid = InDruid((), frozenset({"h-2:8083"}), frozenset({"h-2:8083"}))
    assert taken_back((entry(2),), [], existing=(), druid=druid) == Decommission()


def test_a_pod_with_another_address_gets_another_entry() -> None:
    moved = HistoricalServer("10.0.0.9:8083", "hot", 100, 1000)
    decided = decommission(situation({**THREE, 2: moved}, (entry(2),), 2, listed=["h-2:8083"]))
    assert decided.record == (entry(2, server="10.0.0.9:8083", bytes=100), entry(2))
    assert (decided.added, decided.removed) == (set(), {"h-2:8083"})


@pytest.mark.parametrize("exists", [True, False], ids=["the former pod is terminating", "the former pod is deleted"])
@pytest.mark.parametrize(
    ("others", "specified", "is_removed"), [(False, False, True), (True, False, False), (False, True, False)]
)
def test_the_address_of_a_pod_that_stays_is_taken_out(
    exists: bool, others: bool, specified: bool, is_removed: bool
) -> None:
    """A pod that stays has got the address of one that has stopped; only what others have listed remains."""
    name = frozenset({"h-2:8083"})
    druid = InDruid(tuple(THREE.values()), name, name if specified else frozenset())
    record = (entry(2, listed_by_others=others),)
    existing = ("h-2",) if exists else ()
    decided = taken_back(record, [], existing=frozenset(existing), druid=druid, staying=name)
    assert (decided.removed == name, decided.added, decided.ours) == (is_removed, set(), set())


def test_the_address_of_a_pod_that_stays_is_never_added() -> None:
    name = frozenset({"h-2:8083"})
    decided = decommission(situation(THREE, (entry(1), entry(2)), 1, staying=name))
    assert decided.added == {"h-1:8083"}
    assert not (decided.due | decided.ours) & name


def test_an_address_that_moves_between_pods_that_stop_stays_ours() -> None:
    moved = {0: server(0), 1: HistoricalServer("h-2:8083", "hot", 100, 1000)}
    decided = decommission(situation(moved, (entry(2),), 1, listed=["h-2:8083"], existing={"h-1"}))
    assert [each.listed_by_others for each in decided.record if each.server == "h-2:8083"] == [False, False]
