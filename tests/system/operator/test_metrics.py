# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The metrics of the operator and of its clusters, on a real API server, and their use in Prometheus."""

from __future__ import annotations

import json
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.metrics import METRICS, PHASES
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.census import read
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.druid_operator import DruidOperator, start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import connection
from ansible_collections.druidops.druid.tests.system.support.ingestion_in_process import KIND as INGESTION
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.playbook import CLUSTER, Ansible, Run
from ansible_collections.druidops.druid.tests.system.support.prometheus_files import Sample, samples, tried_with
from testbed.audit import Mark
from testbed.operator.settings import METRICS_PORT
from testbed.operator.started import METRICS_PORT as STAND_IN_PORT
from testbed.operator.started import real_program
from testbed.operator_plugin import StartOperator
from testbed.ports import reserved_ports
from testbed.promtool import promtool

NAME = "c"
BROKERS = f"druid-{NAME}-brokers"
RUNNING = small_cluster.spec(replicas=1)
PREFIX = "druidops_"
# An address without a server.
NOWHERE = "http://127.0.0.1:1"
WRITES = ("create", "update", "patch", "delete")


class Watched:
    """An operator whose metrics are read as Prometheus does."""

    def __init__(self, started: DruidOperator, url: str, mark: Mark) -> None:
        self.started = started
        self._url = url
        self._mark = mark

    @property
    def text(self) -> str:
        """What is scraped."""
        with urllib.request.urlopen(self._url, timeout=60) as answer:
            return str(answer.read().decode())

    def value(self, name: str, kind: str = "druid") -> float | None:
        """The value of one of our own metrics."""
        found = [each.value for each in samples(self.text) if each.name == f"{PREFIX}{kind}_{name}"]
        return found[0] if found else None

    def has(self, kind: str = "druid", **expected: float) -> bool:
        """Whether our own metrics have these values."""
        return all(self.value(name, kind) == value for name, value in expected.items())

    def writes(self) -> int:
        """How often the runs have written; ansible-operator itself sets finalizers by PUT."""
        created = [each for each in self.started.events(self._mark) if each.verb in WRITES and not each.dry_run]
        return len([each for each in created if (each.verb, each.resource) != ("update", "druids")])


@pytest.fixture
def watched(operator: StartOperator, live: NamespaceClient, tmp_path: Path) -> Iterator[Watched]:
    with reserved_ports(2) as (posted_to, scraped_at):
        port = METRICS_PORT if real_program() else posted_to
        started = start(
            operator,
            live,
            tmp_path,
            flags=[f"--metrics-bind-address=127.0.0.1:{scraped_at}"],
            RECONCILE_WAIT="3s",
            DRUIDOPS_METRICS_URL=f"http://localhost:{port}/metrics",
            **{STAND_IN_PORT: str(port)},
        )
        yield Watched(started, f"http://127.0.0.1:{scraped_at}/metrics", live.mark())


def test_metrics_of_reconciles_and_clusters(watched: Watched, live: NamespaceClient) -> None:
    live.create(small_cluster.resource(NAME, RUNNING))
    watched.started.wait_until_ready(NAME)
    eventually(lambda: watched.has(clusters=1, clusters_ready=1))
    counts_what_was_done(watched)

    live.create({"kind": "ConfigMap", "metadata": {"name": "druid-other-brokers-config"}})
    live.create(small_cluster.resource("other", RUNNING))
    eventually(lambda: watched.has(clusters=2, clusters_ready=1, clusters_degraded=1))
    # the metrics of a run are posted one after the other
    eventually(lambda: (watched.value("degraded_since_timestamp_seconds") or 0) > 1e9)
    eventually(lambda: (watched.value("reconciles_blocked_total") or 0) > 0)

    live.delete("ConfigMap", "druid-other-brokers-config")
    eventually(lambda: watched.has(clusters_ready=2, clusters_degraded=0, degraded_since_timestamp_seconds=0))

    # They are reset with the operator, and are correct nevertheless.
    watched.started.program.stop()
    watched.started.program.start()
    eventually(lambda: watched.has(clusters=2, clusters_ready=2, not_ready_since_timestamp_seconds=0))

    for name in (NAME, "other"):
        live.delete("Druid", name)
    eventually(lambda: watched.has(clusters=0, clusters_ready=0))


@campaign("the metrics of clusters; those of ingestions by unit tests")
def test_metrics_of_ingestions(watched: Watched, live: NamespaceClient) -> None:
    for name in ("a", "b"):
        live.create(ingestion(name))
    eventually(lambda: watched.has("druidingestion", ingestions=2, ingestions_ready=0, ingestions_degraded=2))
    for since in ("degraded_since_timestamp_seconds", "not_ready_since_timestamp_seconds"):
        eventually(lambda since=since: (watched.value(since, "druidingestion") or 0) > 1e9)
    assert watched.value("clusters") is None

    live.create(small_cluster.resource(NAME, RUNNING))
    watched.started.wait_until_ready(NAME)
    eventually(lambda: watched.has(clusters=1, clusters_ready=1))
    assert_no_complaints(watched)

    live.delete(INGESTION, "a")
    eventually(lambda: watched.has("druidingestion", ingestions=1, ingestions_degraded=1))


def ingestion(name: str) -> dict[str, Any]:
    """A resource for a Druid that is not there."""
    spec = {
        "endpoint": {"url": NOWHERE},
        "ingestion": {"type": "kafka", "nativeSpec": {"type": "kafka", "spec": {"dataSchema": {"dataSource": name}}}},
    }
    return {"kind": INGESTION, "metadata": {"name": name}, "spec": spec}


def assert_no_complaints(watched: Watched) -> None:
    """All metrics exist, promtool accepts them, and each query has a result."""
    text = watched.text
    found = samples(text)
    names = {each.name.removesuffix("_count") for each in found if each.name.startswith(PREFIX)}
    assert {f"{PREFIX}druid_{metric.name}" for metric in METRICS["druid"]} <= names
    # Nothing has received metrics: all but the durations.
    unknown = {f"{phase}_duration_seconds" for phase in PHASES}
    assert {f"{PREFIX}druidingestion_{metric.name}" for metric in METRICS["druidingestion"]} - names <= {
        f"{PREFIX}druidingestion_{name}" for name in unknown
    }
    promtool("check", "metrics", text=text)
    # Without an election no metric reports the leader; the unit tests have its name.
    election = Sample("leader_election_master_status", {"name": "druid-operator"}, 1)
    file = watched.started.program.directory / "queries.yml"
    file.write_text(json.dumps(tried_with([*found, election])), encoding="utf-8")
    promtool("test", "rules", str(file))


def counts_what_was_done(watched: Watched) -> None:
    """The counters are right."""
    created = watched.started.live.created_objects()
    applied = len([kind for kind, _name in created if kind != "PersistentVolumeClaim"])
    eventually(lambda: watched.value("objects_applied_total") == applied)
    eventually(lambda: watched.value("kubernetes_writes_total") == watched.writes())
    assert watched.has(reconciles_failed_total=0, observe_errors_total=0, act_errors_total=0, report_errors_total=0)


def test_counts_the_clusters_of_the_watched_namespaces(live: NamespaceClient) -> None:
    live.create(small_cluster.resource(NAME))
    api = connection(live)

    def counted(*namespaces: str) -> set[tuple[str, str]]:
        found = read(api, "Druid", namespaces)
        assert found is not None
        return {(each["metadata"]["namespace"], each["metadata"]["name"]) for each in found}

    assert counted(live.namespace) == {(live.namespace, NAME)}
    assert counted("default", live.namespace) >= {(live.namespace, NAME)}
    assert counted() >= {(live.namespace, NAME)}
    assert (live.namespace, NAME) not in counted("default")


def reconciled_as_operator(ansible: Ansible, live: NamespaceClient, **environment: str) -> Run:
    """Reconcile with the environment of an operator."""
    direct = {"DRUIDOPS_KUBECONFIG": str(live.plane.kubeconfig("druidops"))}
    task = {CLUSTER: {"name": NAME, "namespace": live.namespace, "operator": True}}
    return ansible.tasks(task, environment={**direct, **environment})


def test_unresponsive_endpoint_fails_no_reconcile(ansible: Ansible, live: NamespaceClient, tmp_path: Path) -> None:
    live.create(small_cluster.resource(NAME))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/metrics"
        assert reconciled_as_operator(
            ansible, live, DRUIDOPS_METRICS_URL=url, DRUIDOPS_LOG=str(tmp_path / "log")
        ).changed
    [line] = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["metrics"].startswith(f"The metrics could not be pushed to {url}")


def test_unresponsive_cache_is_logged_and_changes_nothing_else(
    ansible: Ansible, live: NamespaceClient, tmp_path: Path
) -> None:
    """ansible-operator then watches no object of the cluster, which no other sign would show."""
    live.create(small_cluster.resource(NAME))
    cluster = {"name": "cache", "cluster": {"server": NOWHERE}}
    context = {"name": "cache", "context": {"cluster": "cache", "user": ""}}
    kubeconfig = {"apiVersion": "v1", "kind": "Config", "clusters": [cluster], "contexts": [context]}
    (tmp_path / "cache").write_text(json.dumps({**kubeconfig, "current-context": "cache"}), encoding="utf-8")

    log = tmp_path / "log"
    cache = str(tmp_path / "cache")
    environment = {"K8S_AUTH_KUBECONFIG": cache, "DRUIDOPS_METRICS_URL": "", "DRUIDOPS_LOG": str(log)}
    assert reconciled_as_operator(ansible, live, **environment).changed

    [line] = log.read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["level"] == "warning"
    assert NOWHERE in json.loads(line)["cache"]
