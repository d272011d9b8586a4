# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator notices that a Secret has changed, although it does not watch Secrets."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.druid_operator import start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from testbed.operator_plugin import StartOperator

NAME, SECRET = "c", "db"
REFERENCE = {"envFrom": [{"secretRef": {"name": SECRET}}]}
PERIOD = "5s"


def test_the_period_notices_a_change_and_no_secret_is_listed_or_watched(
    operator: StartOperator, live: NamespaceClient, tmp_path: Path
) -> None:
    live.create({"kind": "Secret", "metadata": {"name": SECRET}, "stringData": {"password": "first"}})
    begin = live.mark()
    started = start(operator, live, tmp_path, RECONCILE_WAIT=PERIOD)
    live.create(small_cluster.resource(NAME, small_cluster.spec(replicas=1, rollingDeploy=True, **REFERENCE)))
    started.wait_until_settled(NAME)
    before = pods(live)
    live.merge("Secret", SECRET, {"stringData": {"password": "second"}})
    eventually(lambda: len(before) == len(pods(live)) and not before & pods(live))
    started.wait_until_ready(NAME)
    expected = {f"Rollout of group {key} (1 pod) has started: Secret db changed." for key in small_cluster.KEYS}
    eventually(
        lambda: {each["message"] for each in live.list("Event") if each["reason"] == "RolloutStarted"} == expected
    )
    assert {each.verb for each in started.events(begin) if each.resource == "secrets"} == {"get"}


def pods(live: NamespaceClient) -> set[str]:
    return {each["metadata"]["uid"] for each in live.list("Pod")}
