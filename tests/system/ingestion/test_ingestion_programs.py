# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An ingestion as users run it: by the playbook from the installed tarball, and by the operator."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.tests.system.support.druid_operator import period_without_full_reconcile, start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.ingestion_in_process import KIND, Ingesting, ingesting
from ansible_collections.druidops.druid.tests.system.support.ingestion_specs import kafka_spec
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.numbered_rows import column
from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible, Run
from testbed.druid.druid import Druid
from testbed.operator_plugin import StartOperator

CANARY = "hunter2-the-canary"
DOCUMENT = Path(__file__).parents[3] / "docs" / "ingestion.md"


@pytest.fixture
def ingestion(live: NamespaceClient, druid: Druid) -> Iterator[Ingesting]:
    with ingesting(live, druid) as started:
        started.kafka.make_topic(started.name)
        yield started


def play(ansible: Ansible, *options: str, **variables: Any) -> Run:
    """Run the playbook druidops.druid.ingestion; the variables go without their prefix."""
    specified = {"namespace": ansible.namespace, "wait_sleep": 1, **variables}
    prefixed = {f"druid_ingestion_{key}": value for key, value in specified.items()}
    return ansible.run("druidops.druid.ingestion", "-e", ansible.write("variables.json", prefixed), *options)


def test_by_playbook(each_ansible: Ansible, ingestion: Ingesting) -> None:
    spec = kafka_spec(ingestion)
    spec["spec"]["ioConfig"]["consumerProperties"]["ssl.keystore.password"] = CANARY
    resource = {"apiVersion": "druid.apache.org/v1alpha1", **ingestion.resource("kafka", spec, suspend=True)}
    provided = {"resource": resource, "wait": True}

    planned = play(each_ansible, "--check", "--diff", **provided)
    assert f"create supervisor {ingestion.name}" in planned.output
    assert CANARY not in planned.output
    assert ingestion.live.find(KIND, ingestion.name) is None

    created = play(each_ansible, "--diff", **provided)
    assert created.changed
    assert CANARY not in created.output
    assert f"{ingestion.name}: Supervisor {ingestion.name} is suspended, as specified." in created.output
    assert not play(each_ansible, **provided).changed
    assert not play(each_ansible, name=ingestion.name).changed

    ended = play(each_ansible, name=ingestion.name, state="absent", wait=True)
    assert f"terminate supervisor {ingestion.name}" in ended.output
    assert ingestion.live.find(KIND, ingestion.name) is None


def test_by_the_operator(operator: StartOperator, ingestion: Ingesting, tmp_path: Path) -> None:
    log = tmp_path / "log"
    created = ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True))
    period = period_without_full_reconcile(created["metadata"]["uid"])
    started = start(operator, ingestion.live, tmp_path, DRUIDOPS_LOG=str(log), RECONCILE_WAIT=period)
    started = replace(started, kind=KIND)
    mark = started.wait_until_settled(ingestion.name)
    assert ingestion.condition("Ready") == ("True", "Suspended")
    assert f"create supervisor {ingestion.name}" in first_line(log)["done"]

    ingestion.proxy.forget()
    before = len(started.program.runs)
    started.touch(ingestion.name)
    started.program.wait_for_runs(ingestion.name, before + 1)
    eventually(lambda: started.requests(mark) == [started.cache_read] * 2 * (len(started.program.runs) - before))
    assert ingestion.writes == []

    ingestion.live.delete("ConfigMap", f"{ingestion.name}-ingestion")
    eventually(lambda: ingestion.live.find("ConfigMap", f"{ingestion.name}-ingestion") is not None)

    ingestion.live.delete(KIND, ingestion.name)
    eventually(lambda: ingestion.live.find(KIND, ingestion.name) is None)
    assert ingestion.name not in ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")


def test_quick_start_of_the_document_ingests_rows(ansible: Ansible, ingestion: Ingesting) -> None:
    [resource] = described_in_the_document()
    text = json.dumps(resource).replace("kafka.example.com:9092", ingestion.kafka.address)
    resource = json.loads(re.sub(r"\bpages\b", ingestion.name, text))
    resource["metadata"]["namespace"] = ansible.namespace
    # Its cluster is one of pods; the Druid that there is takes that one's place.
    assert resource["spec"].pop("druidCluster")
    resource["spec"]["endpoint"] = {"url": ingestion.druid.url}
    ingestion.kafka.produce(
        ingestion.name, [{"time": f"2026-01-01T00:00:0{second}Z", "page": "a"} for second in (1, 2)]
    )

    created = play(ansible, resource=resource, wait=True)
    assert f"create supervisor {ingestion.name}" in created.output
    eventually(lambda: column(ingestion.druid, ingestion.name, "page") == ["a", "a"])
    play(ansible, name=ingestion.name, state="absent", wait=True)


def described_in_the_document() -> list[dict[str, Any]]:
    """The resources in docs/ingestion.md, those left out of which only a part is shown."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [found for found in map(yaml.safe_load, blocks) if "kind" in found]


def first_line(log: Path) -> dict[str, Any]:
    """The first line of the operator's log, all of which are about the ingestion."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert {line["kind"] for line in lines} == {KIND}
    return lines[0]
