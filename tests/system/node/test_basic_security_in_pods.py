# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rollouts and drains of a Druid with basic security in real pods."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.node.test_druid_in_pods import (
    COORDINATOR_CONFIG,
    ROWS,
    Running,
    batch,
    change_properties,
    drain_of,
    ended,
    is_enabled,
    is_settled,
    uid_of,
    worker,
)
from ansible_collections.druidops.druid.tests.system.support import druid_in_pods, real_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from testbed.api import Api, ApiError
from testbed.control_plane import ControlPlane
from testbed.druid.versions import BASIC_SECURITY
from testbed.node import images
from testbed.node import running as node
from testbed.pytest_plugin import new_namespace

pytestmark = pytest.mark.xdist_group("node")

# The release that has the extension here.
RELEASE = "27.0.0"
# What Ansible, YAML or a file of properties could take for syntax. Druid accepts no colon.
ADMIN, INTERNAL = "hunter2 #canary {{ 1 }}", "hunter3-canary"
LOGIN = "druid-login"
COUNT = 'SELECT COUNT(*) AS "rows" FROM pages'


def variable(name: str, key: str) -> dict[str, Any]:
    """A variable from the Secret."""
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": LOGIN, "key": key}}}


def password(name: str) -> str:
    """The value of a property: the password is in this variable."""
    return json.dumps({"type": "environment", "variable": name})


def properties() -> str:
    """Basic security, with passwords that are in no ConfigMap."""
    authenticator, authorizer, escalator = "druid.auth.authenticator.basic", "druid.auth.authorizer", "druid.escalator"
    found = {
        "druid.auth.authenticatorChain": '["basic"]',
        f"{authenticator}.type": "basic",
        f"{authenticator}.initialAdminPassword": password("ADMIN_PASSWORD"),
        f"{authenticator}.initialInternalClientPassword": password("INTERNAL_PASSWORD"),
        f"{authenticator}.authorizerName": "basic",
        "druid.auth.authorizers": '["basic"]',
        f"{authorizer}.basic.type": "basic",
        f"{escalator}.type": "basic",
        f"{escalator}.internalClientUsername": "druid_system",
        f"{escalator}.internalClientPassword": password("INTERNAL_PASSWORD"),
        f"{escalator}.authorizerName": "basic",
    }
    return "".join(f"{name}={value}\n" for name, value in found.items())


def resource() -> dict[str, Any]:
    """The cluster with basic security, whose Secret the operator reads as well."""
    cluster = real_cluster.resource()
    spec = cluster["spec"]
    common = spec["common.runtime.properties"].replace("loadList=[]", f'loadList=["{BASIC_SECURITY}"]')
    variables = [variable("ADMIN_PASSWORD", "OperatorPassword"), variable("INTERNAL_PASSWORD", "internal")]
    return {
        **cluster,
        "spec": {
            **spec,
            "image": images.druid_image(RELEASE),
            "common.runtime.properties": common + properties(),
            "env": [*spec.get("env", []), *variables],
            "auth": {"type": "basic-auth", "secretRef": {"name": LOGIN}},
            "middleManagerDrainStrategy": {},
        },
    }


@pytest.fixture(scope="module")
def running(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Druid whose pods are ready, with rows in the datasource pages."""
    node.load(node.machine_of(control_plane.ca_file.parent), images.of_release(RELEASE))
    with new_namespace(control_plane) as namespace:
        live = NamespaceClient(control_plane, namespace)
        data = {"OperatorUserName": "admin", "OperatorPassword": ADMIN, "internal": INTERNAL}
        live.create({"kind": "Secret", "metadata": {"name": LOGIN}, "stringData": data})
        ansible, created = druid_in_pods.created(live, tmp_path_factory.mktemp("playbooks"), resource())
        assert "5/5 pods ready" in created.output
        encoded = base64.b64encode(f"admin:{ADMIN}".encode()).decode()
        found = Running(ansible, live, f"Basic {encoded}")
        task = found.router.request("POST", "/druid/indexer/v1/task", batch("pages"))["task"]
        status = f"/druid/indexer/v1/task/{task}/status"
        state = eventually(lambda: ended(found.router.request("GET", status)["status"]))
        assert state["statusCode"] == "SUCCESS", state["errorMsg"]
        eventually(lambda: found.answer(COUNT) == [{"rows": len(ROWS)}])
        yield found
        ansible.cluster(real_cluster.NAME, state="absent", wait=True, wait_sleep=1)


@campaign("real Druids with basic security and with TLS, beside simulated pods")
def test_the_next_group_waits_for_a_druid_with_authentication(running: Running) -> None:
    with pytest.raises(ApiError, match="401"):
        Api(running.address).request("GET", COORDINATOR_CONFIG)
    running.router.request("POST", COORDINATOR_CONFIG, {"pauseCoordination": True})
    change_properties(running, "historicals", "brokers")
    broker = uid_of(running, "brokers")
    waiting = eventually(lambda: (running.reconciled(running.address)["status"].get("rollout") or {}).get("waitingFor"))
    assert "datasource pages has 1 unavailable segment" in waiting
    assert uid_of(running, "brokers") == broker
    running.router.request("POST", COORDINATOR_CONFIG, {"pauseCoordination": False})
    eventually(lambda: is_settled(running))
    assert uid_of(running, "brokers") != broker
    eventually(lambda: running.answer(COUNT) == [{"rows": len(ROWS)}])


@campaign("real Druids with basic security and with TLS, beside simulated pods")
def test_drains_a_worker_of_a_druid_with_authentication(running: Running) -> None:
    druid, replaced = running.router, uid_of(running, "indexers")
    task = druid.request("POST", "/druid/indexer/v1/task", {"type": "noop", "runTime": 20_000})["task"]
    eventually(lambda: task in worker(druid)["runningTasks"])
    change_properties(running, "indexers")
    assert eventually(lambda: drain_of(running, task))["phase"] == "Draining"
    assert (is_enabled(worker(druid)), uid_of(running, "indexers")) == (False, replaced)
    eventually(lambda: is_settled(running))
    assert druid.request("GET", f"/druid/indexer/v1/task/{task}/status")["status"]["statusCode"] == "SUCCESS"
    assert uid_of(running, "indexers") != replaced
    assert is_enabled(worker(druid))


@campaign("real Druids with basic security and with TLS, beside simulated pods")
def test_passwords_are_in_no_object_but_their_secret(running: Running) -> None:
    output = running.ansible.cluster(real_cluster.NAME, "--diff", "-vvv", url=running.address).output
    objects = [running.live.list(kind) for kind in ("ConfigMap", "StatefulSet", "Deployment", "Pod", "Event", "Druid")]
    for canary in (ADMIN, INTERNAL, running.authorization):
        assert str(canary) not in f"{output}{objects}"
    assert condition(running.live.get("Druid", real_cluster.NAME), "Ready")["status"] == "True"
