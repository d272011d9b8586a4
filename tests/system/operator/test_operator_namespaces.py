# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An operator that watches two namespaces: clusters of one name do not conflict, and a third namespace is ignored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import NEVER_RECONCILED
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.druid_operator import start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import CREATED_KINDS, NamespaceClient
from testbed.control_plane import ControlPlane
from testbed.operator_plugin import StartOperator
from testbed.pytest_plugin import new_namespace

NAME = "c"
BROKERS = f"druid-{NAME}-brokers"


@pytest.fixture
def three(control_plane: ControlPlane) -> Iterator[list[NamespaceClient]]:
    """Three new namespaces."""
    with ExitStack() as stack:
        yield [NamespaceClient(control_plane, stack.enter_context(new_namespace(control_plane))) for _each in range(3)]


def uids(live: NamespaceClient) -> set[str]:
    """Return the identities of all that a cluster was made of."""
    return {each["metadata"]["uid"] for kind in CREATED_KINDS for each in live.list(kind)}


def test_two_namespaces_of_three(operator: StartOperator, three: list[NamespaceClient], tmp_path: Path) -> None:
    first, second, unwatched = three
    started = start(operator, first, tmp_path, namespaces=[first.namespace, second.namespace])
    for live in reversed(three):
        live.create(small_cluster.resource(NAME))
    for live in (first, second):
        started.seen_from(live).wait_until_settled(NAME)

    before = uids(first)
    second.merge("Druid", NAME, {"spec": {"nodes": {"brokers": {"podDisruptionBudgetSpec": {"maxUnavailable": 2}}}}})
    eventually(lambda: second.get("PodDisruptionBudget", BROKERS)["spec"]["maxUnavailable"] == 2)
    second.delete("Druid", NAME)
    eventually(lambda: second.find("Druid", NAME) is None and second.created_objects() == set())

    assert uids(first) == before
    assert first.get("PodDisruptionBudget", BROKERS)["spec"]["maxUnavailable"] == 1
    left_alone = unwatched.get("Druid", NAME)
    assert left_alone["status"] == NEVER_RECONCILED
    assert "finalizers" not in left_alone["metadata"]
    assert unwatched.created_objects() == set()
    assert not started.program.runs_of(NAME, namespace=unwatched.namespace)
