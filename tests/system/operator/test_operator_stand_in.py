# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts of operator-sdk's program ansible-operator that our tests need, on the program or its stand-in."""

from __future__ import annotations

import base64
import json
import os
import shlex
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3
import yaml
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.sample_kind import (
    MERGE,
    SampleKind,
    created_sample_kind,
    quick_runner,
    reference,
)
from ansible_collections.druidops.druid.tests.system.support.tcp_gate import Gate, gate
from testbed.api import ApiError
from testbed.control_plane import ControlPlane
from testbed.operator.runs import Run
from testbed.operator.settings import METRICS_PORT
from testbed.operator.started import METRICS_PORT as STAND_IN_PORT
from testbed.operator.started import Operator, real_program
from testbed.operator_plugin import StartOperator
from testbed.ports import reserved_ports

ANNOTATION = "ansible.sdk.operatorframework.io"
FAIL: dict[str, Any] = {"fail": {"msg": "on purpose"}}
LAST = "example.com/last"


@pytest.fixture(scope="module")
def group(control_plane: ControlPlane) -> Iterator[str]:
    """A kind for these tests."""
    with created_sample_kind(control_plane) as created:
        eventually(lambda: _is_served(control_plane, created))
        yield created


@pytest.fixture
def samples(control_plane: ControlPlane, group: str, namespace: str, tmp_path: Path) -> SampleKind:
    """The samples of a new namespace."""
    return SampleKind(control_plane, group, namespace, tmp_path)


def _is_served(plane: ControlPlane, group: str) -> bool:
    try:
        return plane.request("GET", f"/apis/{group}/v1/samples") is not None
    except ApiError:
        return False


class Watched:
    """SampleKind with an operator that reconciles one at a time."""

    def __init__(self, samples: SampleKind, operator: Operator) -> None:
        self.samples = samples
        self.operator = operator
        self._fresh = 0

    def runs(self, name: str, count: int) -> list[Run]:
        """The runs of a sample when so many have ended."""
        return self.operator.wait_for_runs(name, count, namespace=self.samples.namespace)

    def settled(self, name: str) -> int:
        """How many runs a sample has had, when those that are due have been: other samples come after them."""
        for _round in range(2):
            self._fresh += 1
            fresh = f"fresh-{self._fresh}"
            self.samples.create(fresh)
            self.runs(fresh, 1)
        return len(self.operator.runs_of(name, namespace=self.samples.namespace))

    def run_created(self, name: str, **more: Any) -> dict[str, Any]:
        """A new sample whose first reconcile has ended."""
        mark = self.samples.plane.audit.mark()
        created = self.samples.create(name, **more)
        self.runs(name, 1)
        eventually(lambda: Counter(self.requests(mark))[f"get samples/{name}"] == 2)
        return created

    def read(self, owner: dict[str, Any] | None, path: str) -> Any:
        """Read through the proxy as a run for the owner does."""
        return self.samples.proxied(self.operator.proxy_url, owner).request("GET", path)

    def config_maps(self, query: str = "") -> str:
        """The path of all ConfigMaps."""
        return f"/api/v1/namespaces/{self.samples.namespace}/configmaps{query}"

    def as_admin(self, method: str, path: str, body: Any = None) -> Any:
        """A request that does not concern the operator."""
        return self.samples.plane.request(
            method, path, body, content_type=MERGE if method == "PATCH" else "application/json"
        )

    def requests(self, since: Any) -> list[str]:
        """What the operator has requested from the API server, here and in the namespace default."""
        events = self.samples.plane.audit.since(since, "operator")
        here = [each for each in events if each.namespace in (self.samples.namespace, "default")]
        asked = [f"{each.verb} {each.resource}/{each.name}".rstrip("/") for each in here]
        return [each for each in asked if "/fresh-" not in each]


def watched(start: StartOperator, samples: SampleKind, *flags: str, **watch: Any) -> Watched:
    """An operator for the namespace, whose runs do nothing, quickly."""
    entry = samples.watch(samples.playbook(), **watch)
    input_file = ["--max-concurrent-reconciles=1", *flags]
    programs = [quick_runner(samples.directory)]
    return Watched(samples, start([entry], namespaces=[samples.namespace], flags=input_file, programs=programs))


def played(start: StartOperator, samples: SampleKind, *tasks: dict[str, Any], **more: Any) -> Watched:
    """An operator for the namespace, whose runs are those of ansible-runner."""
    flags = ["--max-concurrent-reconciles=1", "--ansible-verbosity=0"]
    entry = samples.watch(samples.playbook(*tasks))
    return Watched(samples, start([entry], namespaces=[samples.namespace], flags=flags, **more))


def owned(samples: SampleKind, owner: dict[str, Any], name: str) -> dict[str, Any]:
    """A ConfigMap with an owner, a label and a value."""
    metadata = {"name": name, "labels": {"name": name}, "ownerReferences": [reference(owner)]}
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": "value"}}
    return samples.plane.request("POST", f"/api/v1/namespaces/{samples.namespace}/configmaps", document)


def spy(directory: Path) -> Path:
    """An ansible-runner that leaves in the directory what it was started with; the directory that it is in itself."""
    directory.mkdir()
    real = shutil.which("ansible-runner", path=f"{os.environ['DRUIDOPS_OPERATOR']}/bin")
    where = shlex.quote(str(directory))
    script = f"""#!/bin/bash
name=$(basename "$2")
printf '%s\\n' "$@" > {where}/arguments-$name
cp "$KUBECONFIG" {where}/kubeconfig
env > {where}/environment
exec {real} "$@"
"""
    (directory / "ansible-runner").write_text(script)
    (directory / "ansible-runner").chmod(0o755)
    return directory


def test_arguments_of_a_run(operator: StartOperator, samples: SampleKind, tmp_path: Path) -> None:
    """Command line, environment, files and kubeconfig."""
    seen = spy(tmp_path / "spy")
    playbook = samples.playbook()
    entry = samples.watch(playbook, maxRunnerArtifacts=3, vars={"mine": "{{ 1 }}"})
    flags = ["--ansible-verbosity=1"]
    started = operator(
        [entry], namespaces=[samples.namespace], flags=flags, programs=[seen], environment={"HELLO": "world"}
    )
    created = samples.create("a", spec={"camelCase": "{{ 1 + 1 }}", "list": ["x", 1]})
    (run,) = started.wait_for_runs("a")

    directory = f"/tmp/ansible-operator/runner/{samples.group}/v1/Sample/{samples.namespace}/a"
    options = ["--rotate-artifacts", "3", "-p", str(playbook), "-i", run.ident, "-v"]
    assert (seen / "arguments-a").read_text().split() == ["run", directory, *options]
    environment = dict(line.split("=", 1) for line in (seen / "environment").read_text().splitlines() if "=" in line)
    assert environment["HELLO"] == "world"
    assert environment["KUBECONFIG"] == environment["K8S_AUTH_KUBECONFIG"]
    eventually(lambda: not Path(environment["KUBECONFIG"]).exists())

    kubeconfig = yaml.safe_load((seen / "kubeconfig").read_text())
    (cluster,), (user,), (context,) = kubeconfig["clusters"], kubeconfig["users"], kubeconfig["contexts"]
    name = user["user"]["username"]
    assert cluster["cluster"]["server"] == started.proxy_url.replace("//", f"//{name}@")
    assert context["name"] == f"{samples.namespace}/proxy-server" == kubeconfig["current-context"]
    assert json.loads(base64.urlsafe_b64decode(name)) == {**reference(created), "Namespace": samples.namespace}

    def input_file(file: str) -> Any:
        return json.loads((run.directory / file).read_text())

    variables = {"K8S_AUTH_KUBECONFIG": environment["KUBECONFIG"], "KUBECONFIG": environment["KUBECONFIG"]}
    assert input_file("env/envvars") == variables
    assert input_file("env/settings") == {
        "runner_http_url": f"/tmp/ansibleoperator-{run.ident}",
        "runner_http_path": "/events/",
    }
    extra = input_file("env/extravars")
    unsafe = {"camelCase": {"__ansible_unsafe": "{{ 1 + 1 }}"}, "list": [{"__ansible_unsafe": "x"}, 1]}
    assert {key: extra[key] for key in unsafe} == unsafe == extra[f"{samples.variable}_spec"]
    assert extra[samples.variable]["metadata"]["uid"] == {"__ansible_unsafe": created["metadata"]["uid"]}
    assert extra["mine"] == "{{ 1 }}"
    assert extra["ansible_operator_meta"] == {"name": "a", "namespace": samples.namespace}
    assert (run.directory / "project" / "playbook.yaml").read_text() == playbook.read_text()
    assert (run.directory / "inventory" / "hosts").read_text().startswith("localhost ansible_connection=local")
    assert "the end" in run.stdout
    # the events have arrived
    assert "did not receive playbook_on_stats" not in started.log

    # what the author of a resource may choose
    samples.create("b", annotations={f"{ANNOTATION}/verbosity": "4", f"{ANNOTATION}/max-runner-artifacts": "1"})
    started.wait_for_runs("b")
    arguments = (seen / "arguments-b").read_text().split()
    assert (arguments[3], arguments[-1]) == ("1", "-vvvv")


def test_causes_of_runs(operator: StartOperator, samples: SampleKind) -> None:
    """Existing samples, changes of the generation and of annotations; not those of status or labels."""
    samples.create("a")
    those = watched(operator, samples)
    those.runs("a", 1)
    samples.patch("a", {"status": {"ready": 1}}, "/status")
    samples.patch("a", {"metadata": {"labels": {"a": "b"}}})
    assert those.settled("a") == 1
    samples.patch("a", {"spec": {"size": 2}})
    those.runs("a", 2)
    samples.patch("a", {"metadata": {"annotations": {"c": "d"}}})
    those.runs("a", 3)
    assert those.settled("a") == 3


def test_period(operator: StartOperator, samples: SampleKind) -> None:
    """The watch's, over which an annotation wins; one that is not a duration blocks the resource."""
    those = watched(operator, samples, reconcilePeriod="1s")
    for name, period in (("never", "0s"), ("blocked", "soon")):
        samples.create(name, annotations={f"{ANNOTATION}/reconcile-period": period})
    samples.create("a")
    those.runs("a", 3)
    assert len(those.runs("never", 1)) == 1
    assert not those.operator.runs_of("blocked")


@campaign("the failures of clusters that the operator retries")
def test_failures_are_retried(operator: StartOperator, samples: SampleKind) -> None:
    """Rescued ones, too, and a requeue_after without a period; not ignored ones."""
    mode = f"{samples.variable}_spec.mode | default('good') == "
    those = played(
        operator,
        samples,
        {**FAIL, "when": f"{mode} 'failed'"},
        {"block": [FAIL], "rescue": [{"debug": {"msg": "rescued"}}], "when": f"{mode} 'rescued'"},
        {**FAIL, "ignore_errors": True, "when": f"{mode} 'ignored'"},
        {"requeue_after": {"time": "5s"}, "when": f"{mode} 'without period'"},
    )
    for mode, name in (("failed", "a"), ("rescued", "b"), ("without period", "c")):
        samples.create(name, spec={"mode": mode})
        those.runs(name, 2)
        samples.patch(name, {"spec": {"mode": "good"}})
    samples.create("d", spec={"mode": "ignored"})
    assert those.settled("d") == 1
    assert {run.status for name in "bcd" for run in those.operator.runs_of(name) if run.end} == {0}


def test_playbook_that_cannot_run(operator: StartOperator, samples: SampleKind) -> None:
    """A run that does not end properly has failed: it is retried."""
    those = played(operator, samples, {"no_such_action": {}})
    samples.create("a")
    those.runs("a", 2)
    assert "did not receive playbook_on_stats" in those.operator.log


def test_requeue_after(operator: StartOperator, samples: SampleKind, tmp_path: Path) -> None:
    """It takes effect at once, while the run continues without its kubeconfig: the next one may run in parallel."""
    until = {"wait_for": {"path": str(tmp_path / "go"), "sleep": 1, "timeout": 600}}
    those = played(operator, samples, {"requeue_after": {"period": "1s"}}, until, programs=[spy(tmp_path / "spy")])
    mark = samples.plane.audit.mark()
    samples.create("a")
    eventually(lambda: len(those.operator.runs_of("a")) > 1)
    # the resource was read before each of the runs, and not after the first
    reads = Counter(those.requests(mark))["get samples/a"]
    (tmp_path / "go").touch()
    assert reads == 2
    first, second = those.runs("a", 2)[:2]
    assert first.end is not None
    assert second.begin < first.end
    assert "did not receive playbook_on_stats" not in those.operator.log


def test_two_live_reads_a_run(operator: StartOperator, samples: SampleKind) -> None:
    """All that the operator itself requests from the API server, once it runs: the resource, before and after."""
    those = watched(operator, samples)
    those.run_created("a")
    those.settled("a")
    mark = samples.plane.audit.mark()
    for size in (1, 2):
        samples.patch("a", {"spec": {"size": size}})
        those.runs("a", 1 + size)
        eventually(lambda asked=2 * size: len(those.requests(mark)) >= asked)
    assert those.requests(mark) == ["get samples/a"] * 4


def test_no_concurrent_runs_of_a_resource(operator: StartOperator, samples: SampleKind, tmp_path: Path) -> None:
    """Several of different samples; changes during a run cause one more run."""
    started = operator(
        [samples.watch(samples.playbook())],
        namespaces=[samples.namespace],
        flags=["--max-concurrent-reconciles=3"],
        programs=[quick_runner(tmp_path, until=tmp_path / "go")],
    )
    for name in ("a", "b"):
        samples.create(name)
    eventually(lambda: len(started.runs) == 2)
    for size in range(3):
        samples.patch("a", {"spec": {"size": size}})
    # a third worker would be free for the changes of a
    samples.create("c")
    eventually(lambda: started.runs_of("c"))
    (tmp_path / "go").touch()
    first, second = started.wait_for_runs("a", 2)
    assert first.end is not None
    assert second.begin >= first.end


def test_finalizer(operator: StartOperator, samples: SampleKind) -> None:
    """It is there from the first run on, and is removed when the last has succeeded, whatever other ones there are."""
    last = samples.playbook(name="last.yml")
    those = watched(operator, samples, finalizer={"name": LAST, "playbook": str(last)})
    those.run_created("a", finalizers=["example.com/another"])
    assert samples.get("a")["metadata"]["finalizers"] == ["example.com/another", LAST]
    samples.delete("a")
    those.runs("a", 2)
    eventually(lambda: samples.get("a")["metadata"]["finalizers"] == ["example.com/another"])
    samples.patch("a", {"spec": {"size": 2}})
    assert those.settled("a") == 2
    samples.patch("a", {"metadata": {"finalizers": None}})


def test_reads_are_served_from_the_cache(operator: StartOperator, samples: SampleKind) -> None:
    """Objects, and lists by labels; the rest by the API server, with the operator's credentials."""
    those = watched(operator, samples)
    created = those.run_created("a")
    maps = those.config_maps()
    for name in ("x", "y"):
        owned(samples, created, name)

    def cost(*paths: str) -> list[str]:
        mark = samples.plane.audit.mark()
        for path in paths:
            those.read(created, path)
        # another's request comes after those
        those.as_admin("GET", f"{maps}/x")
        eventually(lambda: any(each.user == "admin" for each in samples.plane.audit.since(mark)))
        return those.requests(mark)

    mark = samples.plane.audit.mark()
    those.read(created, maps)
    # the response is from the list, and may be received before the watch
    eventually(lambda: len(those.requests(mark)) > 1)
    assert those.requests(mark) == ["list configmaps", "watch configmaps"]
    found = those.read(created, f"{maps}?labelSelector=name%3Dx")
    assert [each["metadata"]["name"] for each in found["items"]] == ["x"]
    assert (found["kind"], found["items"][0]["kind"]) == ("ConfigMapList", "ConfigMap")
    assert cost(f"{maps}/x", f"{maps}/y", f"{maps}?labelSelector=name%3Dx,name%3Dx", maps, samples.path("a")) == []
    assert cost(f"{maps}?labelSelector=name+in+(x)") == ["list configmaps"]
    assert cost(f"{maps}?fieldSelector=metadata.name%3Dx") == ["list configmaps/x"]
    assert cost("/api/v1/namespaces/default/configmaps") == ["list configmaps"]
    assert those.read(None, "/version")["major"] == "1"
    with pytest.raises(ApiError, match="404"):
        those.read(created, f"{maps}/none")

    def values() -> list[str]:
        return [each["data"]["key"] for each in those.read(created, f"{maps}?labelSelector=name%3Dz")["items"]]

    owned(samples, created, "z")
    eventually(lambda: values() == ["value"])
    those.as_admin("PATCH", f"{maps}/z", {"data": {"key": "other"}})
    eventually(lambda: values() == ["other"])
    those.as_admin("DELETE", f"{maps}/z")
    eventually(lambda: values() == [])


def test_watches_objects_that_were_read_by_name(operator: StartOperator, samples: SampleKind) -> None:
    """Edits and deletions of owned objects; a list starts no watch, and a new process forgets them."""
    those = watched(operator, samples)
    created = those.run_created("a")
    maps = those.config_maps()
    for name in ("x", "y"):
        owned(samples, created, name)
    eventually(lambda: len(those.read(created, f"{maps}?labelSelector=name")["items"]) == 2)
    those.read(created, maps)
    those.as_admin("PATCH", f"{maps}/x", {"data": {"key": "other"}})
    assert those.settled("a") == 1
    those.read(created, f"{maps}/x")
    those.settled("a")
    # the creation itself is not a cause
    owned(samples, created, "z")
    assert those.settled("a") == 1
    those.as_admin("PATCH", f"{maps}/x", {"data": {"key": "another"}})
    those.runs("a", 2)
    those.as_admin("DELETE", f"{maps}/x")
    those.runs("a", 3)
    assert those.settled("a") == 3
    those.operator.kill()
    those.operator.start()
    those.runs("a", 4)
    those.as_admin("DELETE", f"{maps}/y")
    assert those.settled("a") == 4


def test_status_of_dependent_is_no_cause(operator: StartOperator, samples: SampleKind) -> None:
    """Where it has had the same fields before."""
    those = watched(operator, samples)
    created = those.run_created("a")
    path = f"/api/v1/namespaces/{samples.namespace}/services"
    spec = {"type": "LoadBalancer", "ports": [{"port": 80}]}
    metadata = {"name": "x", "ownerReferences": [reference(created)]}

    def write_status(address: str) -> None:
        status = {"loadBalancer": {"ingress": [{"ip": address}]}}
        those.as_admin("PATCH", f"{path}/x/status", {"status": status})

    those.as_admin("POST", path, {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
    write_status("192.0.2.1")
    eventually(lambda: those.read(created, f"{path}/x")["status"]["loadBalancer"])
    those.settled("a")
    write_status("192.0.2.2")
    assert those.settled("a") == 1
    those.as_admin("DELETE", f"{path}/x")
    those.runs("a", 2)


def test_watched_namespaces(operator: StartOperator, samples: SampleKind) -> None:
    """A list of them, or all."""
    entry = samples.watch(samples.playbook())
    programs = [quick_runner(samples.directory)]
    names = [f"{samples.namespace}-{each}" for each in "bc"]
    for name in names:
        samples.plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    two = operator([entry], namespaces=[samples.namespace, names[0]], programs=programs)
    for namespace in (names[1], names[0], samples.namespace):
        samples.create("a", namespace)
    for namespace in (names[0], samples.namespace):
        two.wait_for_runs("a", namespace=namespace)
    assert not two.runs_of("a", namespace=names[1])
    two.stop()
    every = operator([entry], programs=programs)
    every.wait_for_runs("a", namespace=names[1])
    every.stop()
    for name in names:
        samples.plane.request("DELETE", f"/api/v1/namespaces/{name}")


def watched_through(way: Gate, start: StartOperator, samples: SampleKind) -> Watched:
    """An operator that knows the API server by the gate only."""
    kubeconfig = json.loads(samples.plane.kubeconfig("operator").read_text())
    kubeconfig["clusters"][0]["cluster"]["server"] = way.url
    file = samples.directory / "kubeconfig"
    file.write_text(json.dumps(kubeconfig))
    flags = ["--max-concurrent-reconciles=1"]
    entry = samples.watch(samples.playbook())
    programs = [quick_runner(samples.directory)]
    return Watched(
        samples, start([entry], namespaces=[samples.namespace], kubeconfig=file, flags=flags, programs=programs)
    )


def test_survives_without_the_api_server(operator: StartOperator, samples: SampleKind) -> None:
    """Changes during the outage are reconciled."""
    with gate(samples.plane.url) as way:
        those = watched_through(way, operator, samples)
        created = those.run_created("a")
        owned(samples, created, "x")
        those.read(created, those.config_maps("/x"))
        those.run_created("b")
        way.close()
        those.as_admin("DELETE", those.config_maps("/x"))
        samples.patch("b", {"spec": {"size": 2}})
        samples.create("c")
        way.open()
        for name, count in (("a", 2), ("b", 2), ("c", 1)):
            those.runs(name, count)


def test_expired_resource_version(operator: StartOperator, samples: SampleKind) -> None:
    """An API server that has restarted its cache of a kind cannot resume a watch: all objects are listed again."""
    definition = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/samples.{samples.group}"
    with gate(samples.plane.url) as way:
        those = watched_through(way, operator, samples)
        created = those.run_created("a")
        those.run_created("child", ownerReferences=[reference(created)])
        those.read(created, samples.path("child"))
        those.run_created("b")
        way.close()
        samples.delete("child")
        (version,) = those.as_admin("GET", definition)["spec"]["versions"]
        column = {"name": "Size", "type": "string", "jsonPath": ".spec.size"}
        those.as_admin("PATCH", definition, {"spec": {"versions": [{**version, "additionalPrinterColumns": [column]}]}})
        samples.patch("b", {"spec": {"size": 2}})
        way.open()
        those.runs("b", 2)
        those.runs("a", 2)


def elected(start: StartOperator, samples: SampleKind) -> Operator:
    """A replica."""
    flags = ["--leader-elect", "--leader-election-id=samples", f"--leader-election-namespace={samples.namespace}"]
    times = ["--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s"]
    entry, programs = samples.watch(samples.playbook()), [quick_runner(samples.directory)]
    return start([entry], namespaces=[samples.namespace], flags=[*flags, *times], programs=programs, is_replica=True)


@campaign("the same in test_operator_leader.py")
def test_leader_election(operator: StartOperator, samples: SampleKind) -> None:
    """One works, another takes over; who loses the lease ends."""
    lease = f"/apis/coordination.k8s.io/v1/namespaces/{samples.namespace}/leases/samples"
    first = elected(operator, samples)
    samples.create("a")
    first.wait_for_runs("a")
    second = elected(operator, samples)
    samples.patch("a", {"spec": {"size": 2}})
    first.wait_for_runs("a", 2)
    assert not second.runs
    first.kill()
    second.wait_for_runs("a")
    assert samples.plane.request("GET", lease)["spec"]["leaseTransitions"] == 1
    samples.plane.request(
        "PATCH", lease, {"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 3600}}, content_type=MERGE
    )
    eventually(lambda: second.pid is None)


def test_sigterm_waits_for_runs(operator: StartOperator, samples: SampleKind, tmp_path: Path) -> None:
    """They keep their proxy until they end; no other run begins."""
    programs = [quick_runner(tmp_path, until=tmp_path / "go")]
    flags = ["--max-concurrent-reconciles=1"]
    entry = samples.watch(samples.playbook())
    those = Watched(samples, operator([entry], namespaces=[samples.namespace], flags=flags, programs=programs))
    created = samples.create("a")
    eventually(lambda: those.operator.runs)
    samples.create("b")
    stopping = threading.Thread(target=those.operator.stop, daemon=True)
    stopping.start()
    eventually(lambda: "Stopping and waiting" in those.operator.log)
    assert those.read(created, "/version")
    (tmp_path / "go").touch()
    stopping.join(180)
    (run,) = those.operator.runs
    assert run.status == 0
    assert those.operator.pid is None


def test_sigterm_does_not_wait_indefinitely(operator: StartOperator, samples: SampleKind, tmp_path: Path) -> None:
    """After the grace period the operator ends, and leaves the run running."""
    programs = [quick_runner(tmp_path, until=tmp_path / "go")]
    flags = ["--graceful-shutdown-timeout=1s"]
    started = operator(
        [samples.watch(samples.playbook())], namespaces=[samples.namespace], flags=flags, programs=programs
    )
    samples.create("a")
    eventually(lambda: started.runs)
    started.stop()
    (run,) = started.runs
    assert run.end is None
    (tmp_path / "go").touch()
    eventually(lambda: started.runs[0].end)


def test_metrics_of_the_runs(operator: StartOperator, samples: SampleKind) -> None:
    """One at a time, without labels; a gauge cannot be set to 0. They are exposed with the program's own."""
    with reserved_ports(2) as (free, scraped_at):
        port = METRICS_PORT if real_program() else free
        entry, programs = samples.watch(samples.playbook()), [quick_runner(samples.directory)]
        flags = [f"--metrics-bind-address=127.0.0.1:{scraped_at}"]
        environment = {STAND_IN_PORT: str(port)}
        operator([entry], namespaces=[samples.namespace], flags=flags, environment=environment, programs=programs)

        def status(body: Any) -> int:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            return urllib3.request("POST", f"http://localhost:{port}/metrics", body=content).status

        def change(kind: str, **change: Any) -> int:
            return status({"name": f"samples_{kind}", "description": "Samples.", kind: change})

        def scraped() -> str:
            return urllib3.request("GET", f"http://127.0.0.1:{scraped_at}/metrics").data.decode()

        accepted = [
            *(change("counter"), change("counter", add=1.5), change("histogram", observe=0.3)),
            *(change("gauge", set=3), change("gauge", set=0), change("gauge", add=2), change("gauge", subtract=1)),
        ]
        assert accepted == [200] * 7
        assert status({"name": "samples_counter", "gauge": {"set": 1}}) == 400
        assert status({"name": "samples_both", "counter": {}, "gauge": {}}) == 400
        assert [status(body) for body in ({"name": "samples_nothing"}, b"no JSON")] == [400, 400]
        found = scraped().splitlines()
        assert {"# HELP samples_counter Samples.", "# TYPE samples_counter counter"} <= {*found}
        values = {each[0]: float(each[1]) for each in map(str.split, found) if each[0].startswith("samples_")}
        assert (values["samples_counter"], values["samples_gauge"]) == (1.5, 4)
        assert (values['samples_histogram_bucket{le="0.25"}'], values["samples_histogram_count"]) == (0, 1)

        controller = 'controller="sample-v1-controller"'
        samples.create("a")
        total = f'controller_runtime_reconcile_total{{{controller},result="requeue_after"}} '
        eventually(
            lambda: [line for line in scraped().splitlines() if line.startswith(total) and float(line.split()[1])]
        )
