# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each entry of the corpus converges: the second apply sends nothing, and ``changed`` says what was sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.corpus import ANY, Entry, runs
from ansible_collections.druidops.druid.tests.system.support.corpus_run import problems
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct, direct_on
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, druid_27, druid_33, release, share_druid
from testbed.other_release import released

__all__ = ["druid", "druid_27", "druid_33", "share_druid"]

FIXTURES = {ANY: "druid", "27.0.0": "druid_27"}
EXHAUSTIVE = campaign("one entry of each class, on one release")
# On a Druid before 33 they are one document; a dynamic configuration is one on every Druid.
CLUSTER_WIDE = ("compaction", "compaction_config", "coordinator_config", "overlord_config")

DirectOn = Callable[[str, str | None], Direct]


@pytest.fixture(scope="module")
def direct(request: pytest.FixtureRequest) -> Iterator[DirectOn]:
    """The logic of modules, on the Druid of a fixture, with the differences of another release over it or not."""
    found: dict[tuple[str, str | None], Direct] = {}
    with ExitStack() as stack:

        def on(fixture: str, over: str | None) -> Direct:
            if (fixture, over) not in found:
                shared: Druid = request.getfixturevalue(fixture)
                upstream = stack.enter_context(released(over, shared.upstream))
                found[fixture, over] = stack.enter_context(direct_on(shared, upstream=upstream))
            return found[fixture, over]

        yield on


def _runs() -> Iterator[object]:
    for entry, on in runs(release()):
        marks = [pytest.mark.xdist_group("cluster-wide")] if entry.module in CLUSTER_WIDE else []
        quick = entry.quick and on == entry.druid[0]
        yield pytest.param(entry, on, marks=marks if quick else [*marks, EXHAUSTIVE], id=f"{entry.id} ({on})")


# so that it is seen that a Druid is needed (conftest.py)
@pytest.mark.usefixtures("share_druid")
@pytest.mark.parametrize(("entry", "on"), list(_runs()))
def test_entry(direct: DirectOn, entry: Entry, on: str) -> None:
    fixture = "druid_33" if entry.release else FIXTURES[on]
    assert list(problems(direct(fixture, entry.release), entry)) == []
