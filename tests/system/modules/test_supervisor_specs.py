# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A handwritten specification is unchanged the second time, and a change of one leaf changes only that leaf."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct, direct_on
from ansible_collections.druidops.druid.tests.system.support.supervisor_specs import Case, cases_of
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, druid_33, release, share_druid
from testbed.other_release import other_release

__all__ = ["druid", "druid_33", "share_druid"]


@pytest.fixture(scope="module")
def direct(druid: Druid) -> Iterator[Direct]:
    with direct_on(druid) as found:
        yield found


@pytest.fixture(scope="module")
def other(druid_33: Druid, request: pytest.FixtureRequest) -> Iterator[Direct]:
    """What behaves, as far as supervisors go, like that release."""
    with other_release(request.param, druid_33.upstream) as upstream, direct_on(druid_33, upstream=upstream) as found:
        yield found


@pytest.mark.parametrize("case", cases_of(release()).values(), ids=cases_of(release()))
def test_specification(direct: Direct, case: Case) -> None:
    is_kept_and_changed(direct, case)


OTHERS = [
    pytest.param(other, case, id=f"{other}-{name}")
    for other in ("28.0.0", "34.0.0", "37.0.0", "38.0.0")
    for name, case in cases_of(other).items()
]


@pytest.mark.parametrize(("other", "case"), OTHERS, indirect=["other"])
def test_specification_on_another_release(other: Direct, case: Case) -> None:
    is_kept_and_changed(other, case)


def is_kept_and_changed(direct: Direct, case: Case) -> None:
    name = f"s{secrets.token_hex(4)}"
    assert direct.druid.kafka is not None
    spec = case.spec(name, direct.druid.kafka.address)

    predicted = direct.supervisor(spec=spec, check_mode=True)
    assert (predicted["changed"], direct.writes) == (True, [])
    created = direct.supervisor(spec=spec)
    assert (created["changed"], len(direct.writes), created["warnings"]) == (True, 1, [])
    is_kept(direct, name, spec)

    changed = copy.deepcopy(spec)
    put(changed["spec"], case.leaf, case.value)
    predicted = direct.supervisor(spec=changed, check_mode=True)
    assert (leaves_that_differ(predicted), direct.writes) == ({("spec", *case.leaf): case.kept}, [])
    done = direct.supervisor(spec=changed)
    assert (leaves_that_differ(done), len(direct.writes)) == ({("spec", *case.leaf): case.kept}, 1)
    is_kept(direct, name, changed)

    assert direct.supervisor(id=name, state="absent")["changed"]


def is_kept(direct: Direct, name: str, spec: dict[str, Any]) -> None:
    """Declaring the same again changes nothing, neither in check mode nor otherwise, and sends no writes."""
    rows = direct.history(name)
    for check_mode in (True, False):
        again = direct.supervisor(spec=spec, check_mode=check_mode)
        assert (again["changed"], again["diff"], direct.writes, again["warnings"]) == (False, [], [], [])
    assert direct.history(name) == rows


def put(document: Any, place: tuple[Any, ...], value: Any) -> None:
    for key in place[:-1]:
        document = document[key]
    document[place[-1]] = value


def leaves_that_differ(result: dict[str, Any]) -> dict[tuple[Any, ...], Any]:
    """Return the paths at which the two sides of the diff differ, with the value afterwards."""
    (diff,) = result["diff"]
    return dict(_differing(diff["before"], diff["after"], ()))


def _differing(before: Any, after: Any, place: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            yield from _differing(before.get(key), after.get(key), (*place, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after, strict=True)):
            yield from _differing(*pair, (*place, index))
    elif before != after:
        yield place, after
