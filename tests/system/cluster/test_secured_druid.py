# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rollouts that wait for a Druid with authentication or TLS, and drain its worker: simulated pods, and a real Druid.

The pod of the worker gets the address of the real one. Druid 27 has basic security, and no handoffs; Druid 33 has TLS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.certificates import OWN, PERMITTED, TRUST, secret
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import cluster_request, connection, run
from ansible_collections.druidops.druid.tests.system.support.ingestion_specs import kafka_spec
from ansible_collections.druidops.druid.tests.system.support.namespace_client import MERGE, Manifest, NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.numbered_rows import Rows
from ansible_collections.druidops.druid.tests.system.support.small_cluster import resource
from testbed.api import ApiError
from testbed.druid.certificates import Certificates, make_certificates
from testbed.druid.druid import Druid
from testbed.druid.versions import DEFAULT

NAME, POD = "secured", "druid-secured-workers-0"
NODES = {
    "historicals": "historical",
    "workers": "indexer",
    "brokers": "broker",
    "coordinators": "coordinator",
    "routers": "router",
}
HERE = "127.0.0.1"
CANARY = "hunter2-the-canary"
AUTH = {"auth": {"type": "basic-auth", "secretRef": {"name": "login"}}}
# The fields that a configuration of Druid requires in the specification.
FIELDS: dict[str, Any] = {"basic": {}, "tls": TRUST, "mutual-tls": {**TRUST, **OWN}}


@dataclass(frozen=True)
class Secured:
    """A cluster with simulated pods, and the real Druid that it names in `endpoint`."""

    live: NamespaceClient
    druid: Druid

    def reconcile(self) -> Outcome:
        """Reconcile as a task without `wait` does. A pod that has replaced the worker's has its address, too."""
        self._address_worker()
        request = cluster_request(NAME, self.live.namespace, options=Options(timeouts=Timeouts(10, retry_timeout=0)))
        return run(connection(self.live), request, lambda _text: None, Clock())

    def _address_worker(self) -> None:
        pod = self.live.find("Pod", POD)
        if pod and pod["status"].get("podIP", HERE) != HERE:
            status = {"status": {"podIP": HERE, "podIPs": [{"ip": HERE}]}}
            path = f"{self.live.path('Pod', POD)}/status"
            with suppress(ApiError):
                self.live.plane.request("PATCH", path, status, user="person", content_type=MERGE)

    def is_ready(self) -> bool:
        report = self.reconcile().report
        return report is not None and report.is_ready

    def upgrade(self, release: str) -> None:
        self.live.merge("Druid", NAME, {"spec": {"image": f"apache/druid:{release}"}})

    def status(self, field: str) -> dict[str, Any]:
        """A field of the status after a reconcile."""
        self.reconcile()
        found: dict[str, Any] = self.live.get("Druid", NAME)["status"].get(field) or {}
        return found

    def waits_for(self) -> str:
        """What the cluster waits for, and what the tasks of Druid do."""
        status = self.live.get("Druid", NAME)["status"]
        found = {field: status.get(field) for field in ("rollout", "middleManagerDrain", "conditions")}
        return f"{found}; worker {self.worker}; tasks {self.druid.request('GET', '/druid/indexer/v1/tasks')}"

    @property
    def warnings(self) -> str:
        found = self.live.get("Druid", NAME)["status"]["conditions"]
        return " ".join(each["message"] for each in found if each["type"] == "RolloutWarnings")

    @property
    def uid(self) -> str:
        return str(self.live.get("Pod", POD)["metadata"]["uid"])

    @property
    def worker(self) -> dict[str, Any]:
        """The only worker, as the Overlord knows it."""
        (found,) = self.druid.request("GET", "/druid/indexer/v1/workers")
        return dict(found)

    @property
    def is_enabled(self) -> bool:
        return self.worker["worker"]["version"] != ""

    @property
    def events(self) -> set[str]:
        return {each["reason"] for each in self.live.list("Event")}


def cluster(druid: Druid) -> Manifest:
    node = {"druid.port": 8080, "nodeConfigMountPath": "/opt/druid/conf", "runtime.properties": "a=b", "replicas": 1}
    nodes = {key: {**node, "nodeType": kind} for key, kind in NODES.items()}
    fields: dict[str, Any] = {
        "image": "apache/druid:31.0.0",
        "common.runtime.properties": "a=b",
        "middleManagerDrainStrategy": {},
        "endpoint": {"url": druid.url, **FIELDS[druid.configuration.name]},
        "nodes": nodes,
        **(AUTH if druid.credentials else {}),
    }
    return resource(NAME, fields)


def secrets_of(druid: Druid) -> list[Manifest]:
    """The Secrets with which this Druid can be asked."""
    login = druid.credentials
    if login is not None:
        data = {"OperatorUserName": login.username, "OperatorPassword": login.password}
        return [{"kind": "Secret", "metadata": {"name": "login", "annotations": PERMITTED}, "stringData": data}]
    certificate, key = druid.client_certificate or (None, None)
    found = [secret("trust", ca_crt=druid.ca_file), secret("own", tls_crt=certificate, tls_key=key)]
    return [each for each in found if each["stringData"]]


def wrong_secrets_of(druid: Druid, directory: Path) -> list[Manifest]:
    """Those with a wrong password, or the certificates of another authority."""
    if druid.credentials:
        data = {"OperatorUserName": druid.credentials.username, "OperatorPassword": CANARY}
        return [{"kind": "Secret", "metadata": {"name": "login", "annotations": PERMITTED}, "stringData": data}]
    other = Certificates(directory / "other")
    make_certificates(other, CANARY)
    if druid.client_certificate is None:
        return [secret("trust", ca_crt=other.authority)]
    own = secret("own", tls_crt=other.client_certificate, tls_key=other.client_key)
    return [secret("trust", ca_crt=druid.ca_file), own]


@pytest.fixture(params=[("27.0.0", "basic"), (DEFAULT, "tls"), (DEFAULT, "mutual-tls")], ids=" ".join)
def secured(live: NamespaceClient, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Secured]:
    """A cluster that is ready, with Secrets that are wrong."""
    # One of its own: others would run no tasks while its worker is disabled.
    with Druid.start(tmp_path / "druid", *request.param) as druid:
        for each in wrong_secrets_of(druid, tmp_path):
            live.create(each)
        live.create(cluster(druid))
        found = Secured(live, druid)
        eventually(found.is_ready)
        yield found


@dataclass(frozen=True)
class Tasks:
    """A task that runs on the worker, and whether everything that it had to do is done."""

    id: str
    is_done: Callable[[], bool]


def started(secured: Secured) -> Tasks:
    """A task of a Kafka supervisor, which only a handoff ends, or one without a supervisor if there is no Kafka."""
    druid = secured.druid
    if druid.kafka is None:
        task = druid.request("POST", "/druid/indexer/v1/task", {"type": "noop", "runTime": 20_000})["task"]
        path = f"/druid/indexer/v1/task/{task}/status"

        def is_done() -> bool:
            return bool(druid.request("GET", path)["status"]["statusCode"] == "SUCCESS")

        return Tasks(task, is_done)
    rows = Rows(druid, "rows")
    spec = kafka_spec(rows, taskDuration="PT30M")
    druid.request("POST", "/druid/indexer/v1/supervisor", {"type": "kafka", **spec})
    rows.produce(10)
    eventually(rows.has_all)
    (task,) = secured.worker["runningTasks"]
    rows.produce(10)
    return Tasks(task, rows.has_all)


@campaign("the gate with basic security; the drain with a server that knows its workers as Druid does")
def test_waits_and_drains_as_without_security(secured: Secured) -> None:
    """First it may not ask this Druid, then it may; and a further rollout is as one of a Druid that is open to all."""
    before = secured.uid
    secured.upgrade("32.0.0")
    refused = "Druid cannot be asked for the workers of group workers"
    eventually(lambda: secured.reconcile() and refused in secured.warnings)
    assert (secured.uid, secured.is_enabled, "druidBefore" in secured.status("rollout")) == (before, True, False)
    for each in secrets_of(secured.druid):
        secured.live.merge("Secret", each["metadata"]["name"], {"stringData": each["stringData"]})
    eventually(secured.is_ready)
    assert secured.uid != before
    assert secured.is_enabled

    before, tasks = secured.uid, started(secured)
    secured.upgrade("33.0.0")
    recorded = eventually(lambda: secured.status("rollout").get("druidBefore"))
    assert recorded.keys() >= {"unavailableSegments", "missingReplicas"}
    eventually(lambda: tasks.id in secured.status("middleManagerDrain").get("message", ""))
    assert (secured.uid, secured.is_enabled) == (before, False)
    eventually(secured.is_ready, otherwise=secured.waits_for)
    assert (secured.uid != before, secured.is_enabled, secured.warnings) == (True, True, "")
    assert secured.events >= {"WorkerDisabled", "WorkerEnabled"}
    assert ("TaskGroupsHandedOff" in secured.events) is (secured.druid.kafka is not None)
    eventually(tasks.is_done)
    assert CANARY not in str([secured.live.get("Druid", NAME), secured.live.list("Event")])
