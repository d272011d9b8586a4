# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Go operator serves a namespace of DENY_LIST: our operator leaves everything to it but its own finalizer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.names import FINALIZER
from ansible_collections.druidops.druid.tests.system.support import go_cluster, small_cluster
from ansible_collections.druidops.druid.tests.system.support.druid_operator import DruidOperator, start, watches
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import READS, NamespaceClient
from testbed.audit import Mark
from testbed.go_operator import PROGRAM as GO_OPERATOR
from testbed.go_operator import GoOperatorProgram
from testbed.operator.started import PROGRAM as ANSIBLE_OPERATOR
from testbed.operator_plugin import StartOperator

NAME, OTHER = "c", "other"
BROKERS, HISTORICALS = (f"druid-{NAME}-{key}" for key in small_cluster.KEYS)
CLAIM = "PersistentVolumeClaim"

Start = Callable[[], DruidOperator]


@pytest.fixture
def start_ours(operator: StartOperator, live: NamespaceClient, tmp_path: Path) -> Start:
    """Our operator, which ignores the namespace, to be started."""
    return lambda: start(operator, live, tmp_path, DENY_LIST=live.namespace)


def finalizer_set_by(live: NamespaceClient, name: str) -> str | None:
    """Return the field manager of the finalizer, which both operators use; None if it is not set."""
    for entry in live.get("Druid", name)["metadata"]["managedFields"]:
        finalizers = entry.get("fieldsV1", {}).get("f:metadata", {}).get("f:finalizers", {})
        if f'v:"{FINALIZER}"' in finalizers:
            manager: str = entry["manager"]
            return manager
    return None


def serve(live: NamespaceClient, go_operator: GoOperatorProgram) -> None:
    """Start the Go operator, and wait until the cluster is running and has its PVCs."""
    go_operator.start()
    eventually(
        lambda: all(ready_replicas(live, name) == 1 for name in (BROKERS, HISTORICALS)),
        otherwise=lambda: go_operator.log[-3000:],
    )
    assert {f"data-{name}-0" for name in (BROKERS, HISTORICALS)} <= live.names(CLAIM)


def create_served(live: NamespaceClient, go_operator: GoOperatorProgram) -> None:
    """Create the resource, and have the Go operator serve it, which sets the finalizer."""
    live.create(go_cluster.resource(NAME, replicas=1))
    serve(live, go_operator)
    assert finalizer_set_by(live, NAME) == GO_OPERATOR


def ready_replicas(live: NamespaceClient, name: str) -> int:
    """Return the number of ready pods of a StatefulSet, 0 if there is none."""
    count: int = (live.find("StatefulSet", name) or {}).get("status", {}).get("readyReplicas", 0)
    return count


def run_again(ours: DruidOperator, name: str) -> None:
    """Have our operator run for the resource, and wait for the end of the run, or of the resource."""
    before = len(ours.program.runs_of(name))
    ours.touch(name)
    eventually(
        lambda: any(run.end for run in ours.program.runs_of(name)[before:]) or ours.live.find("Druid", name) is None,
        otherwise=lambda: ours.program.log[-3000:],
    )


# The resources that watches.yaml names.
WATCHED = {f"{each['kind'].lower()}s" for each in watches()}


def writes(ours: DruidOperator, since: Mark) -> list[tuple[str, str, str]]:
    """Return what our operator has written, and expect that it has not read any object of the cluster."""
    events = ours.events(since)
    assert {each.resource for each in events if each.verb in READS} <= WATCHED
    return [(each.verb, each.resource, each.name) for each in events if each.verb not in READS]


def test_nothing_is_touched_while_the_resource_lives(
    live: NamespaceClient, go_operator: GoOperatorProgram, start_ours: Start
) -> None:
    create_served(live, go_operator)
    mark = live.mark()
    ours = start_ours()
    ours.program.wait_for_runs(NAME, 1)

    def change(nodes: dict[str, Any]) -> None:
        before = len(ours.program.runs_of(NAME))
        live.merge("Druid", NAME, {"spec": {"nodes": nodes}})
        ours.program.wait_for_runs(NAME, before + 1)

    change({"brokers": {"replicas": 2}})
    eventually(lambda: ready_replicas(live, BROKERS) == 2)
    change({"historicals": None})
    eventually(lambda: live.find("StatefulSet", HISTORICALS) is None)
    run_again(ours, NAME)

    assert writes(ours, mark) == []
    assert all(run.status == 0 for run in ours.program.runs)
    assert "conditions" not in live.get("Druid", NAME)["status"]


def test_a_finalizer_of_the_go_operator_is_left_to_it(
    live: NamespaceClient, go_operator: GoOperatorProgram, start_ours: Start
) -> None:
    create_served(live, go_operator)
    go_operator.kill()
    before = live.created_objects()
    ours = start_ours()
    live.create(go_cluster.resource(OTHER))
    eventually(lambda: finalizer_set_by(live, OTHER) == ANSIBLE_OPERATOR)

    for name in (NAME, OTHER):
        live.delete("Druid", name)
    # As soon as our operator releases the other one, which was deleted later, it would release this one, too.
    eventually(lambda: live.find("Druid", OTHER) is None)
    run_again(ours, NAME)
    assert live.get("Druid", NAME)["metadata"]["finalizers"] == [FINALIZER]
    assert live.created_objects() == before

    go_operator.start()
    eventually(lambda: live.find("Druid", NAME) is None, otherwise=lambda: go_operator.log[-3000:])
    eventually(lambda: live.created_objects() == set())


def test_a_finalizer_of_ansible_operator_leaves_the_go_operator_time_to_delete_pvcs(
    live: NamespaceClient, go_operator: GoOperatorProgram, start_ours: Start
) -> None:
    mark = live.mark()
    ours = start_ours()
    live.create(go_cluster.resource(NAME, replicas=1))
    eventually(lambda: finalizer_set_by(live, NAME) == ANSIBLE_OPERATOR)
    ours.program.wait_for_runs(NAME, 1)
    serve(live, go_operator)
    run_again(ours, NAME)
    assert finalizer_set_by(live, NAME) == ANSIBLE_OPERATOR

    live.delete("Druid", NAME)
    eventually(lambda: live.find("Druid", NAME) is None)
    eventually(lambda: live.created_objects() == set())
    eventually(lambda: all(run.end for run in ours.program.runs))
    # ansible-operator's finalizer
    assert writes(ours, mark) == [("update", "druids", NAME)]


def test_a_finalizer_of_ansible_operator_is_removed_from_a_resource_that_the_go_operator_ignores(
    live: NamespaceClient, go_operator: GoOperatorProgram, start_ours: Start
) -> None:
    start_ours()
    ignored = go_cluster.resource(OTHER)
    ignored["metadata"]["annotations"] = {"druid.apache.org/ignored": "true"}
    live.create(ignored)
    claim = live.create(small_cluster.claim(OTHER, "brokers"))["metadata"]["name"]
    eventually(lambda: finalizer_set_by(live, OTHER) == ANSIBLE_OPERATOR)
    live.create(go_cluster.resource(NAME, replicas=1))
    serve(live, go_operator)

    live.delete("Druid", OTHER)
    eventually(lambda: live.find("Druid", OTHER) is None)
    assert claim in live.names(CLAIM)
    [event] = [each for each in live.list("Event") if each["reason"] == "FinalizerRemoved"]
    assert event["involvedObject"]["name"] == OTHER
