# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is told of operator-sdk's program ansible-operator, of which the tests run the program or its stand-in."""

from __future__ import annotations

import base64
import json
import os
import shlex
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3
import yaml
from ansible_collections.druidops.druid.tests.system.support.tcp_gate import Gate, gate
from ansible_collections.druidops.druid.tests.system.support.things import (
    APPLY,
    MERGE,
    Things,
    kind_of_things,
    reference,
)
from ansible_collections.druidops.druid.tests.system.support.waiting import eventually as wait_until
from testbed.api import ApiError
from testbed.control_plane import ControlPlane
from testbed.operator.runs import Run
from testbed.operator.settings import METRICS_PORT
from testbed.operator.started import METRICS_PORT as STAND_IN_PORT
from testbed.operator.started import Operator, real_program
from testbed.operator_plugin import StartOperator
from testbed.ports import reserved_ports

# Seconds; less where the stand-in is broken on purpose, and what is waited for will not come.
PATIENCE = float(os.environ.get("DRUIDOPS_PATIENCE", "180"))
FAIL: dict[str, Any] = {"fail": {"msg": "on purpose"}}


@pytest.fixture(scope="module")
def group(control_plane: ControlPlane) -> Iterator[str]:
    """A kind for these tests."""
    with kind_of_things(control_plane) as made:
        wait_until(lambda: _is_served(control_plane, made))
        yield made


@pytest.fixture
def things(control_plane: ControlPlane, group: str, namespace: str, tmp_path: Path) -> Things:
    """The things of a new namespace."""
    return Things(control_plane, group, namespace, tmp_path)


def _is_served(plane: ControlPlane, group: str) -> bool:
    try:
        return plane.request("GET", f"/apis/{group}/v1/things") is not None
    except ApiError:
        return False


def eventually(condition: Callable[[], Any]) -> Any:
    """Wait with the patience of these tests."""
    return wait_until(condition, PATIENCE)


class Watched:
    """Things with an operator that works on one at a time."""

    def __init__(self, things: Things, operator: Operator) -> None:
        self.things = things
        self.operator = operator
        self._fresh = 0

    def runs(self, name: str, count: int) -> list[Run]:
        """The runs of a thing when so many have ended."""
        return self.operator.wait_for_runs(name, count, namespace=self.things.namespace, patience=PATIENCE)

    def settled(self, name: str) -> int:
        """How many runs a thing has had, when those that are due have been: other things come after them."""
        for _round in range(2):
            self._fresh += 1
            fresh = f"fresh-{self._fresh}"
            self.things.create(fresh)
            self.runs(fresh, 1)
        return len(self.operator.runs_of(name, namespace=self.things.namespace))

    def run_created(self, name: str, **more: Any) -> dict[str, Any]:
        """A new thing that has been run once, and that the operator has looked at afterwards."""
        mark = self.things.plane.audit.mark()
        made = self.things.create(name, **more)
        self.runs(name, 1)
        eventually(lambda: f"get things/{name}" in self.requests_of_operator(mark))
        return made

    def request(self, owner: dict[str, Any] | None, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """A request to the proxy as a run for the owner makes it."""
        return self.things.proxied(self.operator.proxy_url, owner).request(method, path, body, **more)

    def post(self, owner: dict[str, Any], path: str, body: Any) -> None:
        """Post the first object of a kind for the owner, and return when the operator watches that kind."""
        mark = self.things.plane.audit.mark()
        self.request(owner, "POST", path, body)
        # it is listed before it is watched: what is changed sooner is a creation for the operator
        eventually(lambda: f"watch {path.rpartition('/')[2]}" in self.requests_of_operator(mark))

    def config_maps(self, name: str = "") -> str:
        """The path of a ConfigMap, or of all."""
        return f"/api/v1/namespaces/{self.things.namespace}/configmaps" + (f"/{name}" if name else "")

    def as_admin(self, method: str, path: str, body: Any = None) -> Any:
        """A request that the operator has nothing to do with."""
        return self.things.plane.request(
            method, path, body, content_type=MERGE if method == "PATCH" else "application/json"
        )

    def requests_of_operator(self, since: Any) -> list[str]:
        """What the operator has asked the API server for, here and in the namespace default."""
        events = self.things.plane.audit.since(since, "operator")
        here = [each for each in events if each.namespace in (self.things.namespace, "default")]
        asked = [f"{each.verb} {each.resource}/{each.name}".rstrip("/") for each in here]
        return [each for each in asked if "/fresh-" not in each]


def watched(
    start: StartOperator, things: Things, *tasks: dict[str, Any], flags: list[str] | None = None, **watch: Any
) -> Watched:
    """An operator for the namespace, one run at a time."""
    entry = things.watch(things.playbook(*tasks), **watch)
    given = ["--max-concurrent-reconciles=1", "--ansible-verbosity=0", *(flags or [])]
    return Watched(things, start([entry], namespaces=[things.namespace], flags=given))


def config_map(name: str, *owners: dict[str, str], **labels: str) -> dict[str, Any]:
    """A ConfigMap."""
    metadata = {"name": name, "ownerReferences": list(owners), "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": "value"}}


def until_file(file: Path) -> dict[str, Any]:
    """A task that ends when there is the file."""
    return {"wait_for": {"path": str(file), "sleep": 1, "timeout": 600}}


def spy(directory: Path) -> Path:
    """An ansible-runner that leaves in the directory what it was started with; the directory that it is in itself."""
    directory.mkdir()
    real = shutil.which("ansible-runner", path=f"{os.environ['DRUIDOPS_OPERATOR']}/bin")
    where = shlex.quote(str(directory))
    script = f"""#!/bin/bash
printf '%s\\n' "$@" > {where}/arguments
cp "$KUBECONFIG" {where}/kubeconfig
env > {where}/environment
exec {real} "$@"
"""
    (directory / "ansible-runner").write_text(script)
    (directory / "ansible-runner").chmod(0o755)
    return directory


def test_run_is_given(operator: StartOperator, things: Things, tmp_path: Path) -> None:
    """Command line, environment, files and kubeconfig."""
    seen = spy(tmp_path / "spy")
    playbook = things.playbook()
    entry = things.watch(
        playbook, markUnsafe=True, snakeCaseParameters=False, maxRunnerArtifacts=3, vars={"mine": "{{ 1 }}"}
    )
    flags = ["--ansible-args='--diff'", "--ansible-verbosity=1"]
    started = operator(
        [entry], namespaces=[things.namespace], flags=flags, programs=[seen], environment={"HELLO": "world"}
    )
    made = things.create("a", spec={"camelCase": "{{ 1 + 1 }}", "list": ["x", 1]})
    (run,) = started.wait_for_runs("a", patience=PATIENCE)

    directory = f"/tmp/ansible-operator/runner/{things.group}/v1/Thing/{things.namespace}/a"
    options = ["--rotate-artifacts", "3", "-p", str(playbook), "-i", run.ident, "-v"]
    assert (seen / "arguments").read_text().split() == ["run", directory, *options]
    environment = dict(line.split("=", 1) for line in (seen / "environment").read_text().splitlines() if "=" in line)
    assert environment["HELLO"] == "world"
    assert environment["KUBECONFIG"] == environment["K8S_AUTH_KUBECONFIG"]
    eventually(lambda: not Path(environment["KUBECONFIG"]).exists())

    kubeconfig = yaml.safe_load((seen / "kubeconfig").read_text())
    (cluster,), (user,), (context,) = kubeconfig["clusters"], kubeconfig["users"], kubeconfig["contexts"]
    name = user["user"]["username"]
    assert cluster["cluster"]["server"] == started.proxy_url.replace("//", f"//{name}@")
    assert context["name"] == f"{things.namespace}/proxy-server" == kubeconfig["current-context"]
    owner = json.loads(base64.urlsafe_b64decode(name))
    assert owner == {**reference(made), "Namespace": things.namespace}

    def given(file: str) -> Any:
        return json.loads((run.directory / file).read_text())

    variables = {"K8S_AUTH_KUBECONFIG": environment["KUBECONFIG"], "KUBECONFIG": environment["KUBECONFIG"]}
    assert given("env/envvars") == variables
    assert given("env/settings") == {
        "runner_http_url": f"/tmp/ansibleoperator-{run.ident}",
        "runner_http_path": "/events/",
    }
    extra = given("env/extravars")
    unsafe = {"camelCase": {"__ansible_unsafe": "{{ 1 + 1 }}"}, "list": [{"__ansible_unsafe": "x"}, 1]}
    assert {key: extra[key] for key in unsafe} == unsafe == extra[f"{things.variable}_spec"]
    assert extra[things.variable]["metadata"]["uid"] == {"__ansible_unsafe": made["metadata"]["uid"]}
    assert extra["mine"] == "{{ 1 }}"
    assert extra["ansible_operator_meta"] == {"name": "a", "namespace": things.namespace}
    assert (run.directory / "env" / "cmdline").read_text() == "--diff"
    assert (run.directory / "project" / "playbook.yaml").read_text() == playbook.read_text()
    assert (run.directory / "inventory" / "hosts").read_text().startswith("localhost ansible_connection=local")
    assert "the end" in run.stdout
    # an event for the end of the play has arrived
    assert "did not receive playbook_on_stats" not in started.log


def test_starts_a_run_for_what_there_was_before(operator: StartOperator, things: Things) -> None:
    """The first list counts as creations."""
    things.create("a")
    assert len(watched(operator, things).runs("a", 1)) == 1


def test_changes_that_start_runs(operator: StartOperator, things: Things) -> None:
    """Those of the generation; not those of status, labels or annotations."""
    those = watched(operator, things)
    those.run_created("a")
    things.patch("a", {"status": {"ready": 1}}, "/status")
    things.patch("a", {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}})
    assert those.settled("a") == 1
    things.patch("a", {"spec": {"size": 2}})
    those.runs("a", 2)
    assert those.settled("a") == 2


def test_annotations_where_asked(operator: StartOperator, things: Things) -> None:
    """With watchAnnotationsChanges."""
    those = watched(operator, things, watchAnnotationsChanges=True)
    those.run_created("a")
    things.patch("a", {"status": {"ready": 1}}, "/status")
    things.patch("a", {"metadata": {"labels": {"a": "b"}}})
    assert those.settled("a") == 1
    things.patch("a", {"metadata": {"annotations": {"c": "d"}}})
    those.runs("a", 2)


def test_period(operator: StartOperator, things: Things) -> None:
    """The watch's, over which an annotation wins."""
    those = watched(operator, things, reconcilePeriod="1s")
    things.create("never", annotations={"ansible.sdk.operatorframework.io/reconcile-period": "0s"})
    things.create("a")
    those.runs("a", 3)
    assert len(those.runs("never", 1)) == 1


def test_period_of_flag(operator: StartOperator, things: Things) -> None:
    """Where the watch has none."""
    those = watched(operator, things, flags=["--reconcile-period=1s"])
    things.create("a")
    those.runs("a", 2)


def test_unreadable_period(operator: StartOperator, things: Things) -> None:
    """No run, but a condition."""
    those = watched(operator, things)
    things.create("a", annotations={"ansible.sdk.operatorframework.io/reconcile-period": "soon"})
    (condition,) = eventually(lambda: things.get("a").get("status", {}).get("conditions"))
    assert (condition["type"], condition["status"], condition["reason"]) == ("Failure", "True", "Failed")
    assert not those.operator.runs_of("a")


def test_failure_is_tried_again(operator: StartOperator, things: Things) -> None:
    """Long before the period ends."""
    those = watched(operator, things, {**FAIL, "when": f"{things.variable}_spec.bad | default(false)"})
    things.create("a", spec={"bad": True})
    those.runs("a", 3)
    things.patch("a", {"spec": {"bad": False}})
    eventually(lambda: any(run.status == 0 for run in those.operator.runs_of("a")))
    count = those.settled("a")
    assert those.settled("a") == count


def test_rescued_failure_is_one(operator: StartOperator, things: Things) -> None:
    """It is tried again, though Ansible is content."""
    those = watched(operator, things, {"block": [FAIL], "rescue": [{"debug": {"msg": "rescued"}}]})
    things.create("a")
    assert {run.status for run in those.runs("a", 2) if run.end} == {0}


def test_ignored_failure_is_none(operator: StartOperator, things: Things) -> None:
    """It is as good as success."""
    those = watched(operator, things, {**FAIL, "ignore_errors": True})
    those.run_created("a")
    assert those.settled("a") == 1


def test_playbook_that_cannot_run(operator: StartOperator, things: Things) -> None:
    """Without an end there is no success: it is tried again."""
    those = watched(operator, things, {"no_such_action": {}})
    things.create("a")
    those.runs("a", 2)
    assert "did not receive playbook_on_stats" in those.operator.log


def test_requeue_after(operator: StartOperator, things: Things, tmp_path: Path) -> None:
    """It is heard at once, while the run goes on without its kubeconfig: the next one may run beside it."""
    seen = spy(tmp_path / "spy")
    asks = {"requeue_after": {"period": "1s"}}
    playbook = things.playbook(asks, until_file(tmp_path / "go"))
    started = operator([things.watch(playbook)], namespaces=[things.namespace], programs=[seen])
    mark = things.plane.audit.mark()
    things.create("a")
    eventually(lambda: len(started.runs_of("a")) > 1)
    (tmp_path / "go").touch()
    first, second = started.wait_for_runs("a", 2, patience=PATIENCE)[:2]
    assert first.end is not None
    assert second.begin < first.end
    # nobody has looked what the runs made of the thing
    requests = Watched(things, started).requests_of_operator(mark)
    assert "get things/a" not in requests
    assert "did not receive playbook_on_stats" not in started.log


def test_requeue_after_without_a_period(operator: StartOperator, things: Things) -> None:
    """An error, and so tried again."""
    those = watched(operator, things, {"requeue_after": {"time": "5s"}})
    things.create("a")
    those.runs("a", 2)
    assert "period" in those.operator.log or "panic" in those.operator.log


def test_one_live_read_a_run(operator: StartOperator, things: Things) -> None:
    """All that the operator itself asks the API server for, once it runs."""
    those = watched(operator, things)
    those.run_created("a")
    those.settled("a")
    mark = things.plane.audit.mark()
    for size in (1, 2):
        things.patch("a", {"spec": {"size": size}})
        those.runs("a", 1 + size)
        eventually(lambda asked=size: len(those.requests_of_operator(mark)) >= asked)
    assert those.requests_of_operator(mark) == ["get things/a"] * 2


def test_never_two_runs_of_a_thing(operator: StartOperator, things: Things, tmp_path: Path) -> None:
    """Several of different things; what changes meanwhile makes one more run."""
    number = f"MAX_CONCURRENT_RECONCILES_THING_{things.group}".replace(".", "_").upper()
    playbook = things.playbook(until_file(tmp_path / "go"))
    started = operator(
        [things.watch(playbook)],
        namespaces=[things.namespace],
        flags=["--max-concurrent-reconciles=1"],
        environment={number: "3"},
    )
    for name in ("a", "b"):
        things.create(name)
    eventually(lambda: len(started.runs) == 2)
    for size in range(3):
        things.patch("a", {"spec": {"size": size}})
    # a third worker would be free for the changes of a
    things.create("c")
    eventually(lambda: started.runs_of("c"))
    (tmp_path / "go").touch()
    first, second = started.wait_for_runs("a", 2, patience=PATIENCE)
    assert first.end is not None
    assert second.begin >= first.end


def test_finalizer(operator: StartOperator, things: Things) -> None:
    """It is there from the first run on, and goes when the last has succeeded."""
    said = {"debug": {"msg": "last words: {{ last | default('none') }}"}}
    those = watched(operator, things, said, finalizer={"name": "example.com/last", "vars": {"last": "farewell"}})
    those.run_created("a")
    assert things.get("a")["metadata"]["finalizers"] == ["example.com/last"]
    things.delete("a")
    last = those.runs("a", 2)[-1]
    assert "last words: farewell" in last.stdout
    eventually(lambda: not things.plane.request("GET", f"{things.path()}?fieldSelector=metadata.name%3Da")["items"])


def test_deletion_without_our_finalizer(operator: StartOperator, things: Things) -> None:
    """Nothing is run, whoever else wants to be asked."""
    those = watched(operator, things)
    those.run_created("a", finalizers=["example.com/another"])
    things.delete("a")
    assert those.settled("a") == 1
    things.patch("a", {"metadata": {"finalizers": None}})


def test_reads_are_answered_from_the_cache(operator: StartOperator, things: Things) -> None:
    """Objects, lists by labels, and the status; the rest is not."""
    those = watched(operator, things)
    made = those.run_created("a")
    for name in ("x", "y"):
        those.as_admin("POST", those.config_maps(), config_map(name, label=name))

    def cost(*paths: str) -> list[str]:
        mark = things.plane.audit.mark()
        for path in paths:
            those.request(made, "GET", path)
        # another's request comes after those
        those.as_admin("GET", those.config_maps("x"))
        eventually(lambda: any(each.user == "admin" for each in things.plane.audit.since(mark)))
        return those.requests_of_operator(mark)

    maps = those.config_maps()
    mark = things.plane.audit.mark()
    those.request(made, "GET", maps)
    # the answer comes of the list, and may be here before the watch is
    eventually(lambda: len(those.requests_of_operator(mark)) > 1)
    assert those.requests_of_operator(mark) == ["list configmaps", "watch configmaps"]
    found = those.request(made, "GET", f"{maps}?labelSelector=label%3Dx")
    assert [each["metadata"]["name"] for each in found["items"]] == ["x"]
    assert (found["kind"], found["items"][0]["kind"]) == ("ConfigMapList", "ConfigMap")
    assert cost(f"{maps}/x", f"{maps}/y", f"{maps}?labelSelector=label%3Dx,label%3Dx", maps) == []
    assert cost(things.path("a"), things.path("a") + "/status") == []
    assert cost(f"{maps}?labelSelector=label+in+(x)") == ["list configmaps"]
    assert cost(f"{maps}?fieldSelector=metadata.name%3Dx") == ["list configmaps/x"]
    assert cost("/api/v1/namespaces/default/configmaps") == ["list configmaps"]
    assert those.request(made, "GET", "/version")["major"] == "1"
    with pytest.raises(ApiError, match="404"):
        those.request(made, "GET", f"{maps}/none")


def test_cache_follows(operator: StartOperator, things: Things) -> None:
    """What is created, changed and deleted."""
    those = watched(operator, things)
    made = those.run_created("a")

    def seen() -> list[Any]:
        return [
            each["data"] for each in those.request(made, "GET", f"{those.config_maps()}?labelSelector=k%3Dv")["items"]
        ]

    assert seen() == []
    those.as_admin("POST", those.config_maps(), config_map("x", k="v"))
    eventually(lambda: seen() == [{"key": "value"}])
    those.as_admin("PATCH", those.config_maps("x"), {"data": {"key": "other"}})
    eventually(lambda: seen() == [{"key": "other"}])
    those.as_admin("DELETE", those.config_maps("x"))
    eventually(lambda: seen() == [])


def test_blacklisted_kind_is_not_cached(operator: StartOperator, things: Things) -> None:
    """Nor watched."""
    those = watched(operator, things, blacklist=[{"version": "v1", "kind": "ConfigMap"}])
    made = those.run_created("a")
    mark = things.plane.audit.mark()
    those.request(made, "POST", those.config_maps(), config_map("x"))
    those.request(made, "GET", those.config_maps("x"))
    eventually(lambda: len(those.requests_of_operator(mark)) == 2)
    assert those.requests_of_operator(mark) == ["create configmaps/x", "get configmaps/x"]
    those.as_admin("DELETE", those.config_maps("x"))
    assert those.settled("a") == 1


def test_owner_of_what_is_posted(operator: StartOperator, things: Things) -> None:
    """Only of that, after owners that it has; where there can be none, annotations."""
    those = watched(operator, things)
    made = those.run_created("a")
    other = {**reference(things.create("b")), "controller": True}
    posted = those.request(made, "POST", those.config_maps(), config_map("x", other))
    assert posted["metadata"]["ownerReferences"] == [other, reference(made)]
    document = config_map("y")
    del document["metadata"]["ownerReferences"]
    applied = those.request(
        made, "PATCH", f"{those.config_maps('y')}?fieldManager=test", json.dumps(document), content_type=APPLY
    )
    assert "ownerReferences" not in applied["metadata"]
    cluster_wide = {"metadata": {"name": things.namespace}, "apiVersion": "v1", "kind": "PersistentVolume"}
    capacity = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/none"}}
    volume = those.request(made, "POST", "/api/v1/persistentvolumes", {**cluster_wide, "spec": capacity})
    those.as_admin("DELETE", f"/api/v1/persistentvolumes/{things.namespace}")
    assert "ownerReferences" not in volume["metadata"]
    assert volume["metadata"]["annotations"] == {
        "operator-sdk/primary-resource": f"{things.namespace}/a",
        "operator-sdk/primary-resource-type": f"Thing.{things.group}",
    }


def test_owner_injection_can_be_turned_off(operator: StartOperator, things: Things) -> None:
    """Which ends the watches, too."""
    those = watched(operator, things, flags=["--inject-owner-ref=false"])
    made = those.run_created("a")
    posted = those.request(made, "POST", those.config_maps(), config_map("x"))
    assert "ownerReferences" not in posted["metadata"]


def test_credentials_of_the_proxy(operator: StartOperator, things: Things) -> None:
    """The operator's, whatever the request has."""
    those = watched(operator, things)
    mark = things.plane.audit.mark()
    those.request(None, "POST", those.config_maps(), config_map("x"))
    (event,) = [
        each
        for each in things.plane.audit.since(mark)
        if (each.verb, each.resource) == ("create", "configmaps") and each.name == "x"
    ]
    assert event.user == "operator"


def test_watch_after_post(operator: StartOperator, things: Things) -> None:
    """What was posted wakes its owner when it is edited or deleted."""
    those = watched(operator, things)
    made = those.run_created("a")
    those.post(made, those.config_maps(), config_map("x"))
    # the creation itself is none of these
    assert those.settled("a") == 1
    those.as_admin("PATCH", those.config_maps("x"), {"data": {"key": "other"}})
    those.runs("a", 2)
    assert those.settled("a") == 2
    those.as_admin("DELETE", those.config_maps("x"))
    those.runs("a", 3)


def test_watch_after_get_only(operator: StartOperator, things: Things) -> None:
    """Neither a list nor a patch makes one."""
    those = watched(operator, things)
    made = those.run_created("a")
    owned = json.dumps(config_map("x", reference(made)))
    those.request(made, "PATCH", f"{those.config_maps('x')}?fieldManager=test", owned, content_type=APPLY)
    eventually(lambda: those.request(made, "GET", those.config_maps())["items"])
    those.as_admin("PATCH", those.config_maps("x"), {"data": {"key": "other"}})
    assert those.settled("a") == 1
    those.request(made, "GET", those.config_maps("x"))
    those.settled("a")
    those.as_admin("PATCH", those.config_maps("x"), {"data": {"key": "another"}})
    those.runs("a", 2)
    those.as_admin("DELETE", those.config_maps("x"))
    those.runs("a", 3)


def test_status_of_dependent_is_no_cause(operator: StartOperator, things: Things) -> None:
    """Where it has had the same fields before."""
    those = watched(operator, things)
    made = those.run_created("a")
    path = f"/api/v1/namespaces/{things.namespace}/services"
    spec = {"type": "LoadBalancer", "ports": [{"port": 80}]}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": spec}
    those.post(made, path, service)

    def write_status(address: str) -> None:
        status = {"loadBalancer": {"ingress": [{"ip": address}]}}
        those.as_admin("PATCH", f"{path}/x/status", {"status": status})

    # the first is a cause, since its fields are new
    write_status("192.0.2.1")
    those.runs("a", 2)
    assert those.settled("a") == 2
    write_status("192.0.2.2")
    assert those.settled("a") == 2
    those.as_admin("DELETE", f"{path}/x")
    those.runs("a", 3)


def test_without_dependent_watches(operator: StartOperator, things: Things) -> None:
    """watchDependentResources: false."""
    those = watched(operator, things, watchDependentResources=False)
    made = those.run_created("a")
    those.request(made, "POST", those.config_maps(), config_map("x"))
    those.as_admin("DELETE", those.config_maps("x"))
    assert those.settled("a") == 1


def test_watched_namespaces(operator: StartOperator, things: Things) -> None:
    """A list of them, or all."""
    playbook = things.playbook()
    names = [f"{things.namespace}-{each}" for each in "bc"]
    for name in names:
        things.plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    two = operator(
        [things.watch(playbook)], namespaces=[things.namespace, names[0]], flags=["--max-concurrent-reconciles=1"]
    )
    for namespace in (names[1], names[0], things.namespace):
        things.create("a", namespace)
    for namespace in (names[0], things.namespace):
        two.wait_for_runs("a", namespace=namespace, patience=PATIENCE)
    assert not two.runs_of("a", namespace=names[1])
    two.stop()
    every = operator([things.watch(playbook)])
    every.wait_for_runs("a", namespace=names[1], patience=PATIENCE)
    every.stop()
    for name in names:
        things.plane.request("DELETE", f"/api/v1/namespaces/{name}")


def watched_through(way: Gate, start: StartOperator, things: Things) -> Watched:
    """An operator that knows the API server by the gate only."""
    kubeconfig = json.loads(things.plane.kubeconfig("operator").read_text())
    kubeconfig["clusters"][0]["cluster"]["server"] = way.url
    file = things.directory / "kubeconfig"
    file.write_text(json.dumps(kubeconfig))
    flags = ["--max-concurrent-reconciles=1"]
    entry = things.watch(things.playbook())
    return Watched(things, start([entry], namespaces=[things.namespace], kubeconfig=file, flags=flags))


def test_survives_without_the_api_server(operator: StartOperator, things: Things) -> None:
    """What has happened meanwhile is made up for."""
    with gate(things.plane.url) as way:
        those = watched_through(way, operator, things)
        made = those.run_created("a")
        those.post(made, those.config_maps(), config_map("x"))
        those.run_created("b")
        way.close()
        those.as_admin("DELETE", those.config_maps("x"))
        things.patch("b", {"spec": {"size": 2}})
        things.create("c")
        way.open()
        for name, count in (("a", 2), ("b", 2), ("c", 1)):
            those.runs(name, count)


def test_history_that_is_gone(operator: StartOperator, things: Things) -> None:
    """An API server that has begun anew with a kind cannot go on where a watch was: everything is listed again."""
    definition = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.{things.group}"
    with gate(things.plane.url) as way:
        those = watched_through(way, operator, things)
        made = those.run_created("a")
        child = {"apiVersion": things.api_version, "kind": "Thing", "metadata": {"name": "child"}, "spec": {}}
        those.request(made, "POST", things.path(), child)
        those.runs("child", 1)
        those.run_created("b")
        way.close()
        things.delete("child")
        (version,) = those.as_admin("GET", definition)["spec"]["versions"]
        column = {"name": "Size", "type": "string", "jsonPath": ".spec.size"}
        those.as_admin("PATCH", definition, {"spec": {"versions": [{**version, "additionalPrinterColumns": [column]}]}})
        things.patch("b", {"spec": {"size": 2}})
        way.open()
        those.runs("b", 2)
        those.runs("a", 2)


def elected(start: StartOperator, things: Things, playbook: Path) -> Operator:
    """A replica."""
    flags = ["--leader-elect", "--leader-election-id=things", f"--leader-election-namespace={things.namespace}"]
    times = ["--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=4s"]
    return start([things.watch(playbook)], namespaces=[things.namespace], flags=[*flags, *times])


def test_leader_election(operator: StartOperator, things: Things) -> None:
    """One works, another takes over; who loses the lease ends."""
    playbook = things.playbook()
    lease = f"/apis/coordination.k8s.io/v1/namespaces/{things.namespace}/leases/things"
    first = elected(operator, things, playbook)
    things.create("a")
    first.wait_for_runs("a", patience=PATIENCE)
    second = elected(operator, things, playbook)
    things.patch("a", {"spec": {"size": 2}})
    first.wait_for_runs("a", 2, patience=PATIENCE)
    assert not second.runs
    first.kill()
    second.wait_for_runs("a", patience=PATIENCE)
    assert things.plane.request("GET", lease)["spec"]["leaseTransitions"] == 1
    things.plane.request(
        "PATCH", lease, {"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 3600}}, content_type=MERGE
    )
    eventually(lambda: second.pid is None)


def test_sigterm_waits_for_runs(operator: StartOperator, things: Things, tmp_path: Path) -> None:
    """Which have their proxy until they end; nothing new begins."""
    those = watched(operator, things, until_file(tmp_path / "go"))
    made = things.create("a")
    eventually(lambda: those.operator.runs)
    things.create("b")
    stopping = threading.Thread(target=those.operator.stop, daemon=True)
    stopping.start()
    eventually(lambda: "Stopping and waiting" in those.operator.log)
    assert those.request(made, "GET", "/version")
    (tmp_path / "go").touch()
    stopping.join(PATIENCE)
    (run,) = those.operator.runs
    assert run.status == 0
    assert those.operator.pid is None


def test_sigterm_does_not_wait_for_ever(operator: StartOperator, things: Things, tmp_path: Path) -> None:
    """After the grace period the operator ends, and leaves the run to itself."""
    those = watched(operator, things, until_file(tmp_path / "go"), flags=["--graceful-shutdown-timeout=1s"])
    things.create("a")
    eventually(lambda: those.operator.runs)
    those.operator.stop()
    (run,) = those.operator.runs
    assert run.end is None
    (tmp_path / "go").touch()
    eventually(lambda: those.operator.runs[0].end)


def test_restart_begins_anew(operator: StartOperator, things: Things) -> None:
    """Everything is run once; what is owned has to be read again before it is watched."""
    those = watched(operator, things)
    made = those.run_created("a")
    those.request(made, "POST", those.config_maps(), config_map("x"))
    those.operator.kill()
    those.operator.start()
    those.runs("a", 2)
    those.as_admin("DELETE", those.config_maps("x"))
    assert those.settled("a") == 2


def test_metrics_of_the_runs(operator: StartOperator, things: Things) -> None:
    """One at a time, without labels; a gauge cannot be set to 0. They are told with the program's own."""
    with reserved_ports(2) as (free, told_at):
        port = METRICS_PORT if real_program() else free
        flags = [f"--metrics-bind-address=127.0.0.1:{told_at}"]
        watch = things.watch(things.playbook())
        operator([watch], namespaces=[things.namespace], flags=flags, environment={STAND_IN_PORT: str(port)})

        def status(body: Any, method: str = "POST") -> int:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            return urllib3.request(method, f"http://localhost:{port}/metrics", body=content).status

        def change(kind: str, **change: Any) -> int:
            return status({"name": f"things_{kind}", "description": "Things.", kind: change})

        def told() -> str:
            return urllib3.request("GET", f"http://127.0.0.1:{told_at}/metrics").data.decode()

        taken = [
            *(change("counter"), change("counter", increment=True), change("counter", add=1.5)),
            *(change("gauge", set=3), change("gauge", set=0), change("gauge", add=2), change("gauge", decrement=True)),
            *(change("histogram", observe=0.3), change("summary", observe=2)),
        ]
        assert taken == [200] * 9
        assert status({"name": "things_counter", "gauge": {"set": 1}}) == 400
        assert status({"name": "things_both", "counter": {}, "gauge": {}}) == 400
        assert [status(body) for body in ({"name": "things_nothing"}, b"no JSON")] == [400, 400]
        assert status(b"", "GET") == 405
        found = {line for line in told().splitlines() if "things_" in line}
        assert {"# HELP things_counter Things.", "# TYPE things_counter counter"} <= found
        assert {float(line.split()[1]) for line in found if line.startswith("things_counter ")} == {2.5}
        assert {float(line.split()[1]) for line in found if line.startswith("things_gauge ")} == {4}
        assert [line.split()[1] for line in found if line.startswith('things_histogram_bucket{le="0.25"}')] == ["0"]
        assert "things_summary_count 1" in {line.removesuffix(".0") for line in found}

        controller = 'controller="thing-v1-controller"'
        things.create("a")
        eventually(lambda: f'controller_runtime_reconcile_total{{{controller},result="requeue_after"}} 1' in told())
        assert f"controller_runtime_reconcile_errors_total{{{controller}}} 0" in told()


def test_annotations_of_the_author(operator: StartOperator, things: Things, tmp_path: Path) -> None:
    """Verbosity and the number of artifacts."""
    seen = spy(tmp_path / "spy")
    started = operator([things.watch(things.playbook())], namespaces=[things.namespace], programs=[seen])
    prefix = "ansible.sdk.operatorframework.io"
    things.create("a", annotations={f"{prefix}/verbosity": "4", f"{prefix}/max-runner-artifacts": "1"})
    started.wait_for_runs("a", patience=PATIENCE)
    arguments = (seen / "arguments").read_text().split()
    assert arguments[3] == "1"
    assert arguments[-1] == "-vvvv"
