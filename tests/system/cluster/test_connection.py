# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From a playbook to a cluster: options, module_defaults, environment; and the documentation in the tarball."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.tests.system.support import all_kinds_cluster
from ansible_collections.druidops.druid.tests.system.support.in_process import until_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.certificates import Pair, make
from testbed.audit import Mark

INFO = "druidops.druid.cluster_info"
GROUP = "group/druidops.druid.kubernetes"


def users(live: NamespaceClient, mark: Mark) -> list[str]:
    """Return the users that have requested Druid resources here since the mark, in order, except the control plane."""
    asked = (
        each for each in live.plane.audit.since(mark) if (each.namespace, each.resource) == (live.namespace, "druids")
    )
    return [each.user for each in asked if not each.user.startswith("system:")]


def info(live: NamespaceClient, **options: Any) -> dict[str, Any]:
    return {INFO: {"namespace": live.namespace, **options}}


def authority(live: NamespaceClient) -> Pair:
    """Return the authority of the control plane, which knows a user by a certificate of it."""
    return Pair.of_files(live.plane.ca_file, live.plane.ca_file.with_suffix(".key"))


def kubeconfig(live: NamespaceClient) -> dict[str, Any]:
    """Return a kubeconfig with a context for each of two users; the current one is the operator's."""
    content: dict[str, Any] = json.loads(live.plane.kubeconfig("operator").read_text())
    content["users"].append({"name": "other", "user": {"token": live.plane.token("go-operator")}})
    content["contexts"].append({"name": "other", "context": {"cluster": "testbed", "user": "other"}})
    return content


def test_precedence_of_connection_options(each_ansible: Ansible, live: NamespaceClient) -> None:
    path = each_ansible.write("kubeconfig", kubeconfig(live))[1:]
    token = {"host": live.plane.url, "ca_cert": str(live.plane.ca_file), "api_key": live.plane.token("go-operator")}
    ways: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        (info(live), {}, "druidops"),
        (info(live, kubeconfig=path), {}, "operator"),
        (info(live, kubeconfig=path, context="other"), {}, "go-operator"),
        (info(live, kubeconfig=kubeconfig(live)), {}, "operator"),
        (info(live, **token), {}, "go-operator"),
        (info(live), {GROUP: {"kubeconfig": path}}, "operator"),
        (info(live, context="other"), {GROUP: {"kubeconfig": path}}, "go-operator"),
    ]
    mark = live.mark()
    each_ansible.tasks(*({**task, "module_defaults": defaults} for task, defaults, _user in ways))
    environment = {"K8S_AUTH_KUBECONFIG": path, "K8S_AUTH_CONTEXT": "other"}
    each_ansible.tasks(info(live), module_defaults={INFO: {"name": "wiki"}}, environment=environment)
    live.mark()
    assert users(live, mark) == [user for _task, _defaults, user in ways] + ["go-operator"]


def test_client_certificate_authenticates(each_ansible: Ansible, live: NamespaceClient, tmp_path: Path) -> None:
    me = make(tmp_path, "certified", authority(live))
    files = {"client_cert": str(me.certificate_file), "client_key": str(me.key_file)}
    mark = live.mark()
    options = {"host": live.plane.url, "ca_cert": str(live.plane.ca_file), **files}
    run = each_ansible.tasks(info(live, **options), status=2)
    assert 'User "certified" cannot list resource "druids"' in run.results[0]["msg"]
    live.mark()
    assert users(live, mark) == ["certified"]


def test_a_kubeconfig_with_a_private_key_leaves_no_file(
    each_ansible: Ansible, live: NamespaceClient, tmp_path: Path
) -> None:
    """An action runs in a worker of Ansible, which ends without what Python does at its end."""
    me = make(tmp_path, "certified", authority(live))
    document = yaml.safe_load(live.plane.kubeconfig().read_text(encoding="utf-8"))
    data = {"client-certificate-data": me.certificate_file, "client-key-data": me.key_file}
    document["users"][0]["user"] = {name: base64.b64encode(file.read_bytes()).decode() for name, file in data.items()}
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(document), encoding="utf-8")
    (tmp_path / "temporary").mkdir()
    mark = live.mark()
    each_ansible.tasks(
        info(live, kubeconfig=str(tmp_path / "kubeconfig")),
        status=2,
        environment={"TMPDIR": str(tmp_path / "temporary")},
    )
    live.mark()
    assert users(live, mark) == ["certified"]
    assert [*(tmp_path / "temporary").iterdir()] == []


def test_kubeconfig_of_an_unreachable_server(ansible: Ansible, live: NamespaceClient) -> None:
    for name, value in {"kubeconfig": "/nonexistent", "context": "no-such-context"}.items():
        output = ansible.tasks(info(live, **{name: value}), status=2).output
        assert "Cannot connect to a Kubernetes cluster" in output
        assert value in output


def test_cluster_info(ansible: Ansible, live: NamespaceClient) -> None:
    live.create(all_kinds_cluster.resource())
    until_ready(live, "wiki")
    live.create(
        {
            **all_kinds_cluster.resource("fresh"),
            "spec": {**all_kinds_cluster.spec(), "nodes": {"data": all_kinds_cluster.group("historical", 8083)}},
        }
    )
    tasks = [info(live), info(live, name="wiki"), info(live, name="nobody")]
    mark = live.mark()
    every, one, none = (each["clusters"] for each in ansible.tasks(*tasks, options=("-v", "--check")).results)
    assert live.writes(mark) == []
    assert [each["name"] for each in every] == ["fresh", "wiki"]
    assert none == []
    [described] = one
    assert {each["type"] for each in described.pop("conditions")} == {"Ready", "Progressing", "Degraded", "Paused"}
    assert described == {
        "name": "wiki",
        "namespace": live.namespace,
        "ready": True,
        "nodes": "3/3",
        "version": "33.0.0",
        "groups": ["data", "brokers", "routers"],
    }
    assert not every[0]["ready"]
    # ready is about the present specification
    live.merge("Druid", "wiki", all_kinds_cluster.changed("data", replicas=2))
    [result] = ansible.tasks(info(live, name="wiki"), options=("-v",)).results
    assert not result["clusters"][0]["ready"]


@pytest.mark.parametrize("what", ["cluster", "cluster_info", "druid_cluster"])
def test_documents_itself(each_ansible: Ansible, what: str) -> None:
    kind = "role" if what == "druid_cluster" else "module"
    command: list[str | Path] = [
        each_ansible.core.programs / "ansible-doc",
        "--type",
        kind,
        "--json",
        f"druidops.druid.{what}",
    ]
    environment = each_ansible.environment()
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    document = json.loads(printed)[f"druidops.druid.{what}"]
    options = document["entry_points"]["main"]["options"] if kind == "role" else document["doc"]["options"]
    assert {"role": "druid_cluster_resource", "module": "kubeconfig"}[kind] in options
