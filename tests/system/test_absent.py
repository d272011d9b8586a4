# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster is taken away whole, and its data only when that was stated and named."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system import wiki
from ansible_collections.druidops.druid.tests.system.in_process import until_ready
from ansible_collections.druidops.druid.tests.system.live import Live, without_status
from ansible_collections.druidops.druid.tests.system.playbook import Ansible
from ansible_collections.druidops.druid.tests.system.waiting import eventually

GONE: dict[str, Any] = {"state": "absent", "wait": True, "wait_sleep": 1, "wait_timeout": 300}
CLAIMS = {"segments-druid-wiki-data-0", "druid-wiki-routers"}
OF_SETS = {"segments-druid-wiki-data-0"}


def named(output: str) -> set[str]:
    """Return the claims that were named before they were deleted."""
    return set(re.findall(r"^wiki: Deletes the claim (\S+) and the data in its volume\.$", output, re.M))


def planned(output: str) -> set[str]:
    """Return the claims that a plan would delete."""
    return set(re.findall(r"delete PersistentVolumeClaim ([^\s\",]+)", output))


@pytest.mark.parametrize("keeps_claims", [False, True])
def test_by_resource(ansible: Ansible, live: Live, keeps_claims: bool) -> None:
    live.create(wiki.resource(disablePVCDeletionFinalizer=keeps_claims))
    until_ready(live, "wiki")
    mark = live.mark()
    plan = ansible.cluster("wiki", "--check", "--diff", state="absent")
    assert plan.changed
    assert "delete Druid wiki" in plan.output
    assert planned(plan.output) == (set() if keeps_claims else CLAIMS)
    assert [each for each in live.writes(mark) if not each.dry_run] == []

    removed = ansible.cluster("wiki", **GONE)
    assert removed.changed
    assert named(removed.output) == planned(plan.output)
    assert live.find("Druid", "wiki") is None
    # the claim that stands alone has the resource for its owner
    eventually(
        lambda: live.made() == ({("PersistentVolumeClaim", name) for name in OF_SETS} if keeps_claims else set())
    )
    mark = live.mark()
    assert not ansible.cluster("wiki", **GONE).changed
    assert without_status(live.writes(mark)) == []


@pytest.mark.parametrize("keeps_claims", [False, True])
def test_by_variable(ansible: Ansible, live: Live, keeps_claims: bool) -> None:
    spec = wiki.spec()
    until_ready(live, "wiki", spec=spec, by_variable=True)
    given = {"by_variable": True} if keeps_claims else {"spec": spec}
    mark = live.mark()
    plan = ansible.cluster("wiki", "--check", "--diff", state="absent", **given)
    assert plan.changed
    assert planned(plan.output) == (set() if keeps_claims else CLAIMS)
    assert [each for each in live.writes(mark) if not each.dry_run] == []

    removed = ansible.cluster("wiki", **GONE, **given)
    assert removed.changed
    assert named(removed.output) == planned(plan.output)
    assert keeps_claims == ("These claims are kept, since no spec says what becomes of them" in removed.output)
    eventually(lambda: live.made() == ({("PersistentVolumeClaim", name) for name in CLAIMS} if keeps_claims else set()))
    mark = live.mark()
    assert not ansible.cluster("wiki", **GONE, **given).changed
    assert without_status(live.writes(mark)) == []


def test_takes_nothing_else_away(ansible: Ansible, live: Live) -> None:
    live.create({"kind": "ConfigMap", "metadata": {"name": "mine", "labels": {"app": "druid", "druid_cr": "wiki"}}})
    live.create(
        {
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": "mine",
                "labels": {"app": "druid", "druid_cr": "wiki", "nodeSpecUniqueStr": "druid-wiki-data"},
            },
            "spec": wiki.claim(),
        }
    )
    until_ready(live, "wiki", spec=wiki.spec(), by_variable=True)
    ansible.cluster("wiki", **GONE, spec=wiki.spec())
    eventually(lambda: live.made() == {("ConfigMap", "mine"), ("PersistentVolumeClaim", "mine")})
