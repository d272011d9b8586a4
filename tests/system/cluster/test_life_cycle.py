# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster from creation to deletion, as a user runs the playbook."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support import all_kinds_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    NamespaceClient,
    condition,
    without_status,
)
from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible

QUICK: dict[str, Any] = {"wait": True, "wait_sleep": 1, "wait_timeout": 300}


def replicas(live: NamespaceClient, kind: str, name: str) -> int:
    return int(live.get(kind, name)["spec"]["replicas"])


def test_by_the_name_of_a_resource(each_ansible: Ansible, live: NamespaceClient) -> None:
    live.create(all_kinds_cluster.resource())
    created = each_ansible.cluster("wiki", **QUICK)
    assert created.changed
    assert live.created_objects() == all_kinds_cluster.OBJECTS
    # a line for each step forward; the first pods may be ready before the first one
    assert re.search(r"wiki: [0-2]/3 pods ready\. Waiting for .*\d/1\.", created.output)
    assert "wiki: 3/3 pods ready. All pods are ready and up to date (3/3)." in created.output
    assert condition(live.get("Druid", "wiki"), "Ready")["status"] == "True"
    mark = live.mark()
    assert not each_ansible.cluster("wiki").changed
    assert without_status(live.writes(mark)) == []

    live.merge("Druid", "wiki", all_kinds_cluster.changed("data", replicas=2))
    assert "update StatefulSet druid-wiki-data" in each_ansible.cluster("wiki", **QUICK).output
    assert replicas(live, "StatefulSet", "druid-wiki-data") == 2

    live.merge("Druid", "wiki", {"spec": {"nodes": {"brokers": None}}})
    each_ansible.cluster("wiki", **QUICK)
    of_brokers = {each for each in all_kinds_cluster.OBJECTS if "brokers" in each[1]}
    eventually(
        lambda: (
            live.created_objects()
            == all_kinds_cluster.OBJECTS - of_brokers | {("PersistentVolumeClaim", "segments-druid-wiki-data-1")}
        )
    )

    removed = each_ansible.cluster("wiki", state="absent", **QUICK)
    assert "Deletes PVC segments-druid-wiki-data-0 and the data in its volume." in removed.output
    assert live.find("Druid", "wiki") is None
    eventually(lambda: not live.created_objects())
    assert not each_ansible.cluster("wiki", state="absent").changed


FORMS: dict[str, Callable[[Ansible], dict[str, Any]]] = {
    "a mapping": lambda _ansible: {"resource": all_kinds_cluster.resource()},
    "a file": lambda ansible: {"resource": ansible.write("wiki.json", all_kinds_cluster.resource())[1:]},
}


@pytest.mark.parametrize("form", ["a mapping", pytest.param("a file", marks=campaign("the same with a mapping"))])
def test_by_a_provided_resource(ansible: Ansible, live: NamespaceClient, form: str) -> None:
    arguments = FORMS[form](ansible)
    assert ansible.cluster(**arguments, **QUICK).changed
    assert live.created_objects() == all_kinds_cluster.OBJECTS
    assert not ansible.cluster(**arguments).changed
    # metadata of other clients is kept
    live.merge("Druid", "wiki", {"metadata": {"labels": {"team": "a"}}})
    live.merge("Druid", "wiki", all_kinds_cluster.changed("data", replicas=5))
    again = ansible.cluster(**arguments, **QUICK)
    assert "update Druid wiki" in again.output
    stored = live.get("Druid", "wiki")
    assert (stored["metadata"]["labels"], stored["spec"]["nodes"]["data"]["replicas"]) == ({"team": "a"}, 1)


def test_by_a_mapping_with_templates(each_ansible: Ansible, live: NamespaceClient) -> None:
    document = all_kinds_cluster.resource()
    document["spec"]["image"] = "apache/druid:{{ 16 * 2 + 1 }}.0.0"
    # a date in YAML is a string in Kubernetes
    document["metadata"]["annotations"] = {"since": "SINCE"}
    task = {"namespace": live.namespace, "resource": document}
    play = [{"hosts": "localhost", "gather_facts": False, "tasks": [{"druidops.druid.cluster": task}]}]
    text = json.dumps(play).replace('"SINCE"', "2026-11-21")
    each_ansible.run(each_ansible.write("play.yml", text)[1:])
    stored = live.get("Druid", "wiki")
    assert stored["spec"]["image"] == "apache/druid:33.0.0"
    assert stored["metadata"]["annotations"]["since"] == "2026-11-21"


def test_without_resource(each_ansible: Ansible, live: NamespaceClient) -> None:
    def run(**changes: Any) -> bool:
        return each_ansible.cluster("wiki", spec={**all_kinds_cluster.spec(), **changes}, **QUICK).changed

    assert run()
    assert live.created_objects() == all_kinds_cluster.OBJECTS
    assert live.list("Druid") == []
    assert all("ownerReferences" not in each["metadata"] for each in live.list("StatefulSet"))
    assert not run()
    nodes = all_kinds_cluster.spec()["nodes"]
    assert run(nodes={"data": {**nodes["data"], "replicas": 2}})
    eventually(
        lambda: (
            {name for kind, name in live.created_objects() if kind in ("StatefulSet", "Deployment")}
            == {"druid-wiki-data"}
        )
    )
    assert replicas(live, "StatefulSet", "druid-wiki-data") == 2
