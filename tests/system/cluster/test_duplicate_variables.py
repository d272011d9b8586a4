# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API server accepts a variable that is set twice, and other variables that refer to the earlier value keep it."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.tests.system.support import full_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import only_first
from ansible_collections.druidops.druid.tests.system.support.full_cluster import NAME, STATEFUL, STATELESS
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition

TWICE = [{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)"}, {"name": "A", "value": "2"}]
KEPT = [
    {"name": "EARLIER_0_A", "value": "1"},
    {"name": "B", "value": "$(EARLIER_0_A)"},
    {"name": "A", "value": "2"},
]


@pytest.mark.parametrize(
    ("kind", "name"),
    only_first(1, [("StatefulSet", STATEFUL), ("Deployment", STATELESS)], "the same for a StatefulSet"),
)
def test_no_variable_changes_its_value(live: NamespaceClient, kind: str, name: str) -> None:
    nodes = {"historicals": full_cluster.historicals(env=TWICE), "brokers": full_cluster.brokers(env=TWICE)}
    full_cluster.create(live, **nodes)
    outcome = one_pass(live, NAME)
    assert outcome.plan.findings == ()
    [container] = live.get(kind, name)["spec"]["template"]["spec"]["containers"]
    assert [each for each in container["env"] if each["name"] in "AB" or "EARLIER" in each["name"]] == KEPT
    [*texts] = [text for text in outcome.warnings if "is kept as EARLIER_0_A" in text]
    assert len(texts) == len(nodes)
    assert texts[0] in condition(live.get("Druid", NAME), "Warnings")["message"]
    assert one_pass(live, NAME).plan.steps == ()
