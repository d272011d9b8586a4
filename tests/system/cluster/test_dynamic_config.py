# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Druid's dynamic configurations as specified in the resource of the cluster: a real API server, a real Druid."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.system.support.certificates import OWN, TRUST, secret
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import cluster_request, connection, run
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
    without_status,
)
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible
from ansible_collections.druidops.druid.tests.system.support.small_cluster import resource
from testbed.control_plane import ControlPlane
from testbed.druid.druid import Druid
from testbed.proxy import Loss
from testbed.pytest_plugin import new_namespace
from testbed.recording_proxy import UNAVAILABLE, RecordingProxy, recording_proxy

# What is changed there is once in a Druid.
pytestmark = pytest.mark.xdist_group("cluster-wide")

NAME = "kept"
COORDINATOR, OVERLORD = "/druid/coordinator/v1/config", "/druid/indexer/v1/worker"
CANARY = "hunter2-the-canary"
AUTH = {"type": "basic-auth", "secretRef": {"name": "login"}}
ONE_TRY = Timeouts(retry_timeout=0)
# Seconds: later responses are not awaited.
SHORT_TIMEOUT = Timeouts(read_timeout=1, retry_timeout=0)
NODES = {"routers": "router", "coordinators": "coordinator", "workers": "middleManager", "others": "indexer"}


@dataclass(frozen=True)
class Kept:
    """A cluster with simulated pods, and a Druid behind a counting proxy, which takes the place of its router."""

    live: NamespaceClient
    druid: Druid
    proxy: RecordingProxy

    def one_pass(self, check_mode: bool = False, api: KubernetesApi | None = None, **more: Any) -> Outcome:
        """Reconcile as a task without `wait` does."""
        self.proxy.forget()
        spec = more.pop("spec", None)
        settings = Options(check_mode, **{"url": self.proxy.url, "timeouts": ONE_TRY, **more})
        desired = cluster_request(
            NAME, self.live.namespace, spec=spec, without_resource=spec is not None, options=settings
        )
        return run(api or connection(self.live), desired, lambda _text: None, Clock())

    def state(self, nodes: dict[str, Any] | None = None, **spec: Any) -> None:
        """Change the resource: fields of the cluster, and of the groups."""
        specified = {key: {"dynamicConfig": config} for key, config in (nodes or {}).items()}
        self.live.merge("Druid", NAME, {"spec": {**spec, "nodes": specified}})

    @property
    def stored(self) -> Manifest:
        return self.live.get("Druid", NAME)

    @property
    def sent(self) -> list[str]:
        """The write requests of the last reconcile to Druid."""
        return [f"{each.method} {each.path}" for each in self.proxy.writes]

    def condition(self, kind: str) -> tuple[str, str]:
        found = condition(self.stored, kind)
        return found["status"], found["reason"]

    def in_druid(self, path: str, name: str) -> Any:
        """Return a field of a configuration as Druid has it now."""
        return (self.druid.request("GET", path) or {}).get(name)


def cluster() -> Manifest:
    """Return the resource: a group of each type that matters, with one pod."""
    node = {"druid.port": 8080, "nodeConfigMountPath": "/opt/druid/conf", "runtime.properties": "a=b", "replicas": 1}
    nodes = {key: {**node, "nodeType": kind} for key, kind in NODES.items()}
    return resource(NAME, {"image": "apache/druid:33.0.0", "common.runtime.properties": "a=b", "nodes": nodes})


@contextmanager
def created(live: NamespaceClient, druid: Druid) -> Iterator[Kept]:
    """Create the cluster, and reconcile until it is ready."""
    with recording_proxy(druid.upstream) as proxy:
        kept = Kept(live, druid, proxy)
        live.create(cluster())
        eventually(lambda: (report := kept.one_pass().report) is not None and report.is_ready)
        yield kept


@pytest.fixture(scope="module")
def cluster_with_druid(control_plane: ControlPlane, druid: Druid) -> Iterator[Kept]:
    with new_namespace(control_plane) as namespace, created(NamespaceClient(control_plane, namespace), druid) as kept:
        yield kept


@pytest.fixture
def kept(cluster_with_druid: Kept) -> Iterator[Kept]:
    """The initial cluster, and a Druid without dynamic configurations."""
    as_it_was = cluster()["spec"]
    try:
        yield cluster_with_druid
    finally:
        nodes = {key: {**node, "dynamicConfig": None} for key, node in as_it_was["nodes"].items()}
        nothing = {"dynamicConfig": None, "auth": None, "paused": None, "stopped": None, "nodes": nodes}
        cluster_with_druid.live.merge("Druid", NAME, {"spec": nothing})
        cluster_with_druid.proxy.clear()
        druid = cluster_with_druid.druid
        druid.request("POST", COORDINATOR, {"maxSegmentsToMove": 100, "decommissioningNodes": []})
        druid.request("POST", OVERLORD, {})


def events(kept: Kept) -> list[str]:
    return [f"{each['reason']}: {each.get('note') or each.get('message')}" for each in kept.live.list("Event")]


def test_sets_specified_fields(kept: Kept) -> None:
    kept.state(dynamicConfig={"coordinator": {"maxSegmentsToMove": 7, "decommissioningNodes": ["a:1", "b:1"]}})
    first = kept.one_pass()
    assert (first.changed, kept.sent) == (True, [f"POST {COORDINATOR}"])
    assert kept.in_druid(COORDINATOR, "maxSegmentsToMove") == 7
    reported = "DruidOperatorUpdateSuccess: Done in Druid: update dynamic configuration of the Coordinator."
    assert any(each.startswith(reported) and "maxSegmentsToMove: 100 -> 7" in each for each in events(kept))

    mark = kept.live.mark()
    again = kept.one_pass()
    assert (again.changed, kept.sent, without_status(kept.live.writes(mark))) == (False, [], [])
    assert [each.path for each in kept.proxy.exchanges if each.method == "GET" and "config" in each.path]
    assert kept.condition("Ready") == ("True", "AllPodsReady")

    kept.druid.request("POST", COORDINATOR, {"maxSegmentsToMove": 9})
    assert kept.one_pass().changed
    assert kept.in_druid(COORDINATOR, "maxSegmentsToMove") == 7

    kept.state(dynamicConfig={"coordinator": {"decommissioningNodes": ["b:1"]}})
    assert kept.one_pass().changed
    assert kept.in_druid(COORDINATOR, "decommissioningNodes") == ["b:1"]
    assert not kept.one_pass().changed


def test_normalized_value_is_sent_once(kept: Kept) -> None:
    strategy = {"type": "fillCapacity", "misspelt": 1}
    kept.state(dynamicConfig={"overlord": {"selectStrategy": strategy}, "coordinator": {"maxSegmentsToMove": 7}})
    first = kept.one_pass()
    assert kept.sent == [f"POST {COORDINATOR}", f"POST {OVERLORD}"]
    again = kept.one_pass()
    assert (again.changed, kept.sent) == (False, [])
    for outcome in (first, again):
        assert any("selectStrategy.misspelt" in each for each in outcome.warnings), outcome.warnings
    mark = kept.live.mark()
    kept.one_pass()
    assert kept.live.writes(mark) == []
    # changes of other clients in Druid are reverted, and so is a new specification applied
    kept.druid.request("POST", OVERLORD, {"selectStrategy": {"type": "equalDistribution"}})
    assert (kept.one_pass().changed, kept.sent) == (True, [f"POST {OVERLORD}"])
    kept.state(dynamicConfig={"overlord": {"selectStrategy": {**strategy, "misspelt": None}}})
    assert not kept.one_pass().changed
    kept.state(dynamicConfig={"overlord": {"selectStrategy": {**strategy, "type": "equalDistribution"}}})
    assert (kept.one_pass().changed, kept.sent) == (True, [f"POST {OVERLORD}"])


def test_no_request_without_a_specification(kept: Kept) -> None:
    kept.live.merge("Druid", NAME, {"spec": {"auth": AUTH}})
    mark = kept.live.mark()
    kept.one_pass()
    assert kept.proxy.exchanges == []
    assert not [each for each in kept.live.requests(mark) if each.resource == "secrets"]


def test_groups_are_merged_into_the_cluster(kept: Kept) -> None:
    strategy = {"selectStrategy": {"type": "fillCapacity"}}
    kept.state(
        {"coordinators": {"maxSegmentsToMove": 8}, "workers": strategy, "others": strategy},
        dynamicConfig={"coordinator": {"maxSegmentsToMove": 3, "decommissioningNodes": ["c:1"]}},
    )
    assert kept.one_pass().changed
    assert kept.sent == [f"POST {COORDINATOR}", f"POST {OVERLORD}"]
    assert kept.in_druid(COORDINATOR, "maxSegmentsToMove") == 8
    assert kept.in_druid(COORDINATOR, "decommissioningNodes") == ["c:1"]
    assert kept.in_druid(OVERLORD, "selectStrategy")["type"] == "fillCapacity"


def test_conflicting_groups(kept: Kept) -> None:
    kept.state(
        {"workers": {"autoScaler": {"type": "gce"}}, "others": {"autoScaler": {"type": "ec2"}}},
        dynamicConfig={
            "coordinator": {"maxSegmentsToMove": 6},
            "overlord": {"selectStrategy": {"type": "fillCapacity"}},
        },
    )
    outcome = kept.one_pass()
    assert kept.sent == [f"POST {COORDINATOR}"]
    assert outcome.report is not None
    [problem] = outcome.report.problems
    places = ("spec.nodes[workers].dynamicConfig.autoScaler", "spec.nodes[others].dynamicConfig.autoScaler")
    assert all(place in problem.message for place in places)
    assert kept.condition("Degraded") == ("True", "InvalidSpec")


def test_configuration_that_this_druid_does_not_have(kept: Kept) -> None:
    kept.state(dynamicConfig={"broker": {"queryBlocklist": []}, "coordinator": {"maxSegmentsToMove": 5}})
    kept.one_pass()
    found = condition(kept.stored, "Degraded")
    is_missing = int(kept.druid.version.partition(".")[0]) < 37
    assert (found["status"], found["reason"]) == (("True", "InvalidSpec") if is_missing else ("False", "AsExpected"))
    words = "has no dynamic configuration of the Brokers; it requires Druid 37 or newer"
    assert (words in found["message"]) is is_missing
    # the others are kept all the same
    assert f"POST {COORDINATOR}" in kept.sent


def test_check_mode_shows_changes_and_sends_nothing(kept: Kept) -> None:
    kept.state(dynamicConfig={"coordinator": {"maxSegmentsToMove": 4}})
    mark = kept.live.mark()
    outcome = kept.one_pass(check_mode=True)
    assert (outcome.changed, kept.sent, kept.live.writes(mark)) == (True, [], [])
    [step] = outcome.plan.steps
    assert [state["maxSegmentsToMove"] for state in step.states] == [100, 4]


def test_playbook_shows_and_applies_the_change(kept: Kept, tmp_path: Path) -> None:
    ansible = Ansible(CORES["2.19"], kept.live.plane, kept.live.namespace, tmp_path)
    kept.state(dynamicConfig={"coordinator": {"maxSegmentsToMove": 4}})
    kept.proxy.forget()
    shown = ansible.cluster(NAME, "--check", "--diff", url=kept.proxy.url)
    assert "+++ after: dynamic configuration of the Coordinator" in shown.output
    assert {"-maxSegmentsToMove: 100", "+maxSegmentsToMove: 4"} <= set(shown.output.splitlines())
    assert "update dynamic configuration of the Coordinator in Druid" in shown.output
    assert (shown.changed, kept.sent) == (True, [])
    assert ansible.cluster(NAME, url=kept.proxy.url, wait=True).changed
    assert kept.sent == [f"POST {COORDINATOR}"]


def test_paused_resource_reports_pending_changes(kept: Kept) -> None:
    kept.state(dynamicConfig={"coordinator": {"maxSegmentsToMove": 4}}, paused=True)
    outcome = kept.one_pass()
    assert (outcome.changed, kept.sent) == (False, [])
    found = condition(kept.stored, "Ready")
    assert found["reason"] == "ChangesPending"
    assert "update dynamic configuration of the Coordinator" in found["message"]
    kept.live.merge("Druid", NAME, {"spec": {"paused": None}})
    assert kept.one_pass().changed


@pytest.mark.parametrize("reaction", [UNAVAILABLE, Loss.HUNG], ids=["503", "no answer"])
def test_druid_does_not_respond(kept: Kept, reaction: Any) -> None:
    kept.state(dynamicConfig={"coordinator": {"maxSegmentsToMove": 4}})
    kept.proxy.fail_next(reaction, path=COORDINATOR)
    kept.live.merge("Druid", NAME, {"spec": {"common.runtime.properties": f"a={reaction}"}})
    outcome = kept.one_pass(timeouts=SHORT_TIMEOUT)
    assert kept.condition("Degraded") == ("True", "DruidUnreachable")
    assert outcome.report is not None
    # Kubernetes is up to date, and Druid is read again soon
    assert any(step.key.kind == "ConfigMap" for step in outcome.plan.steps)
    assert outcome.report.requeue_after is not None
    eventually(lambda: (report := kept.one_pass().report) is not None and report.is_ready)
    assert kept.in_druid(COORDINATOR, "maxSegmentsToMove") == 4


def test_required_objects_are_missing(kept: Kept) -> None:
    kept.state(dynamicConfig={"coordinator": {"maxSegmentsToMove": 4}}, auth=AUTH)
    kept.one_pass()
    assert kept.condition("Ready") == ("False", "SecretNotFound")
    kept.live.merge("Druid", NAME, {"spec": {"auth": {"secretRef": {"namespace": "default"}}}})
    kept.one_pass()
    assert kept.condition("Ready") == ("False", "RefNotPermitted")
    kept.live.merge("Druid", NAME, {"spec": {"auth": None}})
    kept.one_pass(url="http://127.0.0.1:1")
    assert kept.condition("Ready") == ("False", "DruidUnreachable")
    kept.one_pass(url=None)
    assert kept.condition("Ready") == ("False", "RouterNotFound")
    assert kept.sent == []
    kept.one_pass()
    assert (kept.sent, kept.condition("Ready")) == ([f"POST {COORDINATOR}"], ("True", "AllPodsReady"))


def test_druid_requires_authentication(live: NamespaceClient, druid_basic: Druid) -> None:
    login = druid_basic.credentials
    assert login is not None
    wrong = {"OperatorUserName": login.username, "OperatorPassword": CANARY}
    druid_basic.request("POST", COORDINATOR, {"maxSegmentsToMove": 100})
    with created(live, druid_basic) as kept:
        live.create({"kind": "Secret", "metadata": {"name": "login"}, "stringData": wrong})
        kept.state(dynamicConfig={"coordinator": {"maxSegmentsToMove": 4}}, auth=AUTH)
        seen = [kept.one_pass()]
        assert (kept.sent, kept.condition("Degraded")) == ([], ("True", "Unauthorized"))
        live.merge("Secret", "login", {"stringData": {"OperatorPassword": login.password}})
        seen.append(kept.one_pass())
        assert kept.sent == [f"POST {COORDINATOR}"]
        assert kept.condition("Degraded") == ("False", "AsExpected")
        everything = json.dumps([kept.stored, live.list("Event")]) + str(seen)
        assert CANARY not in everything
        assert login.password not in everything


def test_druid_requires_tls_and_a_client_certificate(live: NamespaceClient, druid_mutual_tls: Druid) -> None:
    assert druid_mutual_tls.client_certificate is not None
    certificate, key = druid_mutual_tls.client_certificate
    druid_mutual_tls.request("POST", COORDINATOR, {"maxSegmentsToMove": 100})
    with created(live, druid_mutual_tls) as kept:

        def reported(**endpoint: Any) -> tuple[str, str]:
            specified = {"url": druid_mutual_tls.url, **TRUST, **endpoint}
            kept.state(dynamicConfig={"coordinator": {"maxSegmentsToMove": 4}}, endpoint=specified)
            kept.one_pass(url=None)
            found = condition(kept.stored, "Degraded")
            return found["reason"], found["message"]

        reason, message = reported()
        assert (reason, message.startswith("spec.endpoint.caSecretRef: there is no")) == ("SecretNotFound", True)
        live.create(secret("trust", ca_crt=live.plane.ca_file))
        reason, message = reported()
        assert (reason, "ca_path is spec.endpoint.caSecretRef" in message) == ("DruidUnreachable", True)
        live.merge("Secret", "trust", {"stringData": {"ca.crt": "none"}})
        reason, message = reported()
        assert (reason, message) == (
            "InvalidSpec",
            "spec.endpoint.caSecretRef: it contains no certificate in PEM format.",
        )
        live.merge("Secret", "trust", secret("trust", ca_crt=druid_mutual_tls.ca_file))
        reason, message = reported()
        assert (reason, "spec.endpoint.clientCertificateSecretRef" in message) == ("DruidUnreachable", True)
        live.create(secret("own", tls_crt=certificate, tls_key=key))
        assert reported(**OWN)[0] == "AsExpected"
        assert kept.in_druid(COORDINATOR, "maxSegmentsToMove") == 4
        # no request is sent to the cluster's own router before it listens
        assert reported(**OWN, url=None)[0] == "RouterNotFound"


def test_cluster_without_resource(live: NamespaceClient, druid: Druid) -> None:
    spec = {**cluster()["spec"], "dynamicConfig": {"coordinator": {"maxSegmentsToMove": 100}}}
    with recording_proxy(druid.upstream) as proxy:
        kept = Kept(live, druid, proxy)
        eventually(lambda: (report := kept.one_pass(spec=spec).report) is not None and report.is_ready)
        assert [each for each in proxy.exchanges if each.path.endswith(COORDINATOR)]
        assert kept.sent == []
        # its Services have no owner, so none of them is used as its router
        report = kept.one_pass(spec=spec, url=None).report
        assert report is not None
        assert [problem.reason for problem in report.problems] == ["RouterNotFound"]
        assert proxy.exchanges == []


def test_waits_for_pods_and_is_deleted_without_a_request(live: NamespaceClient, druid: Druid) -> None:
    with recording_proxy(druid.upstream) as proxy:
        kept = Kept(live, druid, proxy)
        specified = cluster()
        specified["spec"]["dynamicConfig"] = {"coordinator": {"maxSegmentsToMove": 100}}
        specified["spec"]["nodes"]["routers"]["replicas"] = 0
        live.create(specified)
        eventually(lambda: (report := kept.one_pass().report) is not None and report.is_ready)
        found = condition(kept.stored, "Progressing")
        assert (found["status"], found["reason"]) == ("False", "WaitingForDruid")
        assert found["message"] == "The dynamic configuration of coordinator waits for a ready pod in routers."
        assert proxy.exchanges == []
        kept.live.merge("Druid", NAME, {"spec": {"nodes": {"routers": {"replicas": 1}}}})
        eventually(lambda: kept.one_pass() and proxy.exchanges)
        kept.live.merge("Druid", NAME, {"spec": {"stopped": True}})
        kept.one_pass()
        assert proxy.exchanges == []
        kept.live.merge("Druid", NAME, {"spec": {"stopped": None}})
        live.delete("Druid", NAME)
        kept.one_pass()
        assert proxy.exchanges == []
