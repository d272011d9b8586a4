# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each entry of the corpus converges: the second apply sends nothing, and ``changed`` is true if something was sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.corpus import ANY, Entry, Refusal, refused, runs
from ansible_collections.druidops.druid.tests.system.support.corpus_run import problems, refusal
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct, direct_on
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, druid_27, druid_33, release, share_druid
from testbed.other_release import released

__all__ = ["druid", "druid_27", "druid_33", "share_druid"]

# Real ones; the differences of other releases are put over 33.
FIXTURES = {ANY: "druid", "27.0.0": "druid_27"}
EXHAUSTIVE = campaign("one entry of each class, on one release")
# Before Druid 33 compaction is one document, and a dynamic configuration is one on every Druid. Two changes of rules
# at the same time can undo each other in the Coordinator's memory, until it reads all rules again.
CLUSTER_WIDE = ("compaction", "dynamic_config", "retention_rules")

DirectOn = Callable[[str], Direct]


@pytest.fixture(scope="module")
def direct(request: pytest.FixtureRequest) -> Iterator[DirectOn]:
    """The logic of modules, on a release."""
    found: dict[str, Direct] = {}
    with ExitStack() as stack:

        def on(name: str) -> Direct:
            if name not in found:
                shared: Druid = request.getfixturevalue(FIXTURES.get(name, "druid_33"))
                upstream = stack.enter_context(released(None if name in FIXTURES else name, shared.upstream))
                found[name] = stack.enter_context(direct_on(shared, upstream=upstream))
            return found[name]

        yield on


def _runs() -> Iterator[object]:
    for entry, on in runs(release()):
        marks = [pytest.mark.xdist_group("cluster-wide")] if entry.module in CLUSTER_WIDE else []
        quick = entry.quick and on == entry.druid[0]
        yield pytest.param(entry, on, marks=marks if quick else [*marks, EXHAUSTIVE], id=f"{entry.id} ({on})")


def _refused() -> Iterator[object]:
    for number, each in enumerate(refused()):
        marks = [pytest.mark.xdist_group("cluster-wide")] if each.module in CLUSTER_WIDE else []
        yield pytest.param(each, marks=[*marks, EXHAUSTIVE] if number else marks, id=each.name)


# so that it is seen that a Druid is needed (conftest.py)
@pytest.mark.usefixtures("share_druid")
@pytest.mark.parametrize(("entry", "on"), list(_runs()))
def test_entry(direct: DirectOn, entry: Entry, on: str) -> None:
    assert list(problems(direct(on), entry)) == []


@pytest.mark.usefixtures("share_druid")
@pytest.mark.parametrize("case", list(_refused()))
def test_refused(direct: DirectOn, case: Refusal) -> None:
    """Druid's message is in ours, without a look at Druid's log."""
    assert case.message in refusal(direct(case.druid), case.entry)
