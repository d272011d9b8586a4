# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A rollout that waits for Druid: simulated pods, and a real Druid behind a proxy that counts and refuses requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import cluster_request, connection, run
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
)
from ansible_collections.druidops.druid.tests.system.support.small_cluster import resource
from testbed.control_plane import ControlPlane
from testbed.druid.druid import Druid
from testbed.pytest_plugin import new_namespace
from testbed.recording_proxy import RecordingProxy, recording_proxy

NAME = "gated"
CANARY = "hunter2-the-canary"
NODES = {"historicals": "historical", "brokers": "broker", "coordinators": "coordinator", "routers": "router"}
# A port on which nothing listens.
NOWHERE = "http://127.0.0.1:1"
# What is recorded about segments. How many there are depends on the tests that use the same Druid at the same time.
OF_SEGMENTS = {"unavailableSegments", "missingReplicas"}


@dataclass(frozen=True)
class Gated:
    """A cluster with simulated pods, and a Druid behind a proxy, which takes the place of its router."""

    live: NamespaceClient
    proxy: RecordingProxy

    def reconcile(self, check_mode: bool = False, url: str | None = None) -> Outcome:
        """Reconcile as a task without `wait` does."""
        self.proxy.forget()
        options = Options(check_mode, url=url or self.proxy.url, timeouts=Timeouts(read_timeout=10, retry_timeout=0))
        return run(
            connection(self.live),
            cluster_request(NAME, self.live.namespace, options=options),
            lambda _text: None,
            Clock(),
        )

    @property
    def stored(self) -> Manifest:
        return self.live.get("Druid", NAME)

    @property
    def rollout(self) -> dict[str, Any]:
        found: dict[str, Any] = (self.stored.get("status") or {}).get("rollout") or {}
        return found

    def upgrade(self, image: str) -> None:
        self.live.merge("Druid", NAME, {"spec": {"image": image}})

    def until_restarted(self, group: str, url: str | None = None) -> dict[str, Any]:
        """Reconcile until the rollout has come to the group; return it."""
        return eventually(lambda: self.reconcile(url=url) and (found := self.rollout).get("group") == group and found)


@contextmanager
def created(live: NamespaceClient, druid: Druid, **spec: Any) -> Iterator[Gated]:
    node = {"druid.port": 8080, "nodeConfigMountPath": "/opt/druid/conf", "runtime.properties": "a=b", "replicas": 1}
    nodes = {key: {**node, "nodeType": kind} for key, kind in NODES.items()}
    fields = {"image": "apache/druid:32.0.0", "common.runtime.properties": "a=b", "nodes": nodes, **spec}
    with recording_proxy(druid.upstream) as proxy:
        gated = Gated(live, proxy)
        live.create(resource(NAME, fields))
        eventually(lambda: (report := gated.reconcile().report) is not None and report.is_ready)
        yield gated


@pytest.fixture
def gated(control_plane: ControlPlane, druid: Druid) -> Iterator[Gated]:
    with new_namespace(control_plane) as namespace, created(NamespaceClient(control_plane, namespace), druid) as found:
        yield found


def test_a_rollout_waits_for_a_druid_that_does_not_respond(gated: Gated) -> None:
    gated.reconcile()
    assert gated.proxy.exchanges == []
    gated.upgrade("apache/druid:33.0.0")
    plan = gated.reconcile(check_mode=True)
    assert [step.group for step in plan.plan.steps if step.restart.pods] == ["historicals"]
    first = gated.until_restarted("historicals")
    assert first["druidBefore"].keys() >= OF_SEGMENTS
    waiting = eventually(lambda: gated.reconcile(url=NOWHERE) and gated.rollout.get("waitingFor"))
    assert "Druid does not answer about leader of the Coordinators, segments" in waiting
    assert gated.rollout["pending"] == ["brokers", "routers", "coordinators"]
    assert condition(gated.stored, "Ready")["reason"] == "RollingOut"
    assert waiting in condition(gated.stored, "Progressing")["message"]
    gated.until_restarted("brokers")
    # segments of other tests may not be available for long
    gated.live.merge("Druid", NAME, {"spec": {"druidHealthDeadlineSeconds": 3}})
    eventually(lambda: (report := gated.reconcile().report) is not None and report.is_ready)
    assert "rollout" not in gated.stored["status"]


def test_it_does_not_wait_longer_than_specified(gated: Gated) -> None:
    gated.live.merge("Druid", NAME, {"spec": {"druidHealthDeadlineSeconds": 3}})
    gated.upgrade("apache/druid:33.0.0")
    gated.until_restarted("historicals")
    gated.until_restarted("brokers", NOWHERE)
    found = condition(gated.stored, "RolloutWarnings")
    assert "has not recovered within 3 s (druidHealthDeadlineSeconds)" in found["message"]


def test_druid_requires_authentication(live: NamespaceClient, druid_basic: Druid) -> None:
    login = druid_basic.credentials
    assert login is not None
    wrong = {"OperatorUserName": login.username, "OperatorPassword": CANARY}
    auth = {"type": "basic-auth", "secretRef": {"name": "login"}}
    with created(live, druid_basic, auth=auth) as gated:
        live.create({"kind": "Secret", "metadata": {"name": "login"}, "stringData": wrong})
        gated.upgrade("apache/druid:33.0.0")
        assert "druidBefore" not in gated.until_restarted("historicals")
        warning = condition(gated.stored, "RolloutWarnings")["message"]
        assert "401" in warning
        # It does not wait for a Druid that it may not ask.
        assert "druidBefore" not in gated.until_restarted("brokers")
        eventually(lambda: (report := gated.reconcile().report) is not None and report.is_ready)
        live.merge("Secret", "login", {"stringData": {"OperatorPassword": login.password}})
        gated.upgrade("apache/druid:33.0.1")
        assert gated.until_restarted("historicals")["druidBefore"].keys() >= OF_SEGMENTS
        everything = json.dumps([gated.stored, live.list("Event")])
        assert CANARY not in everything
        assert login.password not in everything
