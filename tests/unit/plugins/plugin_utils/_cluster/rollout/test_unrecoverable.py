# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which pods a wait does not wait for: those of the current revision that will not start by themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.pod_problems import unrecoverable
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
CRASH, NO_IMAGE = "CrashLoopBackOff", "ImagePullBackOff"


def pod(waiting: str = CRASH, restarts: int = 3, seconds: int = 60, revision: str = "b", **more: Any) -> dict[str, Any]:
    """The first pod of the brokers, which has not been ready for so many seconds."""
    since = timestamp(NOW - timedelta(seconds=seconds))
    unready = [{"type": "Ready", "status": "False", "lastTransitionTime": since}]
    found = rolling.pod("brokers", 0, revision, waiting, container={"restartCount": restarts}, conditions=unready)
    found["metadata"] |= {"creationTimestamp": since, **more}
    return {"apiVersion": "v1", **found}


def observed(*pods: dict[str, Any], kind: str = "StatefulSet", **status: Any) -> Observed:
    which = rolling.cluster(nodes={"brokers": {"kind": kind}})
    live = rolling.observed(which, brokers={"updateRevision": "b", "readyReplicas": 1, **status})
    others = (each for each in live.of_kind("Pod") if each["metadata"]["labels"]["nodeSpecUniqueStr"] != BROKERS)
    workloads = (each for each in live.objects.values() if each["kind"] != "Pod")
    return Observed().with_objects([*workloads, *others, *pods])


BROKERS = "druid-c-brokers"
# (pod, status of its StatefulSet, whether a wait ends)
PODS = [
    pytest.param(pod(), {}, True, id="a crash loop"),
    pytest.param(pod(restarts=2), {}, False, id="it has crashed twice"),
    pytest.param(pod(seconds=59), {}, False, id="it was ready a minute ago"),
    pytest.param(pod(NO_IMAGE, restarts=0), {}, True, id="no image"),
    pytest.param(pod(NO_IMAGE, restarts=0, seconds=59), {}, False, id="no image yet"),
    pytest.param(pod("ContainerCreating", restarts=0, seconds=999), {}, False, id="it is being created"),
    pytest.param(pod(""), {}, False, id="it is running, and not ready"),
    pytest.param(pod(revision="a"), {}, False, id="of an earlier revision, which is replaced"),
    pytest.param(
        pod(),
        {"observedGeneration": 0},
        False,
        id="the controller has not observed the correction",
    ),
    pytest.param(pod(deletionTimestamp=timestamp(NOW)), {}, False, id="it is stopped"),
]


@pytest.mark.parametrize(("which", "status", "ends"), PODS)
def test_of_a_stateful_set(which: dict[str, Any], status: dict[str, Any], ends: bool) -> None:
    live = observed(which, **status)
    found = unrecoverable(rolling.cluster(), live, (), NOW)
    assert bool(found) is ends
    assert not ends or found.startswith(f"pod {BROKERS}-0, container {BROKERS}: ")


def test_of_a_deployment_are_those_of_the_latest_template() -> None:
    old, new = (pod(seconds=seconds) for seconds in (3600, 61))
    for number, each in enumerate((old, new)):
        each["metadata"]["name"] = f"{BROKERS}-{number}"
        each["metadata"]["labels"]["pod-template-hash"] = f"template-{number}"
    which = rolling.cluster(nodes={"brokers": {"kind": "Deployment"}})
    assert "brokers-1" in unrecoverable(which, observed(old, new, kind="Deployment"), (), NOW)
    starting = {**new, "status": pod("ContainerCreating", restarts=0)["status"]}
    assert not unrecoverable(which, observed(old, starting, kind="Deployment"), (), NOW)


def test_not_of_a_group_that_restarts_anyway() -> None:
    assert not unrecoverable(rolling.cluster(), observed(pod(seconds=999)), ("brokers",), NOW)
