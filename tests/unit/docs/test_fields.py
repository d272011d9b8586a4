# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every field that the code reads is in the schema; every field of the schema is read, or known to have no effect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.finalizer import deletes_claims
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_configs import SpecifiedConfigs, specified
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning import strategy_warnings
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.state import Limits, limits
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.validation import validate
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.druid_health import (
    DEADLINE_SECONDS,
    deadline_seconds,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.evictions import failing_pods
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.gate import Gated, gate
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, cluster_references
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import secrets_of
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import pause_finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs

ROOT = Path(__file__).resolve().parents[3]
# Accepted, and without effect permanently; the reference documents it.
NO_EFFECT = {"spec": {"ignored"}, "node": set[str]()}
# Fields of one level that rules for both also read at the other, where the schema has none.
ONLY_AT_ONE_LEVEL = {"spec": {"persistentVolumeClaim", "serviceAccountName"}, "node": set[str]()}


class Asked(dict[str, Any]):
    """A mapping that records which keys were read."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        super().__init__(content)
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return super().__contains__(name)


@cache
def schema() -> Mapping[str, Any]:
    text = (ROOT / "config" / "crd" / "druids.yaml").read_text(encoding="utf-8")
    crd = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    properties: Mapping[str, Any] = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    return properties["spec"]


def fields(level: str) -> set[str]:
    of_cluster = schema()["properties"]
    return set(of_cluster if level == "spec" else of_cluster["nodes"]["additionalProperties"]["properties"])


def node(kind: str) -> Asked:
    return Asked(
        {
            "nodeType": "broker",
            "kind": kind,
            "druid.port": 8082,
            "nodeConfigMountPath": "/node",
            "runtime.properties": "",
            "replicas": 1,
            "hpAutoscaler": {"minReplicas": 1, "maxReplicas": 2},
            "ingress": {"defaultBackend": {"service": {"name": "a", "port": {"number": 80}}}},
            "podDisruptionBudgetSpec": {"maxUnavailable": 1},
        }
    )


@pytest.fixture(scope="module")
def asked() -> dict[str, set[str]]:
    """What validating, deciding and rendering ask of both levels, for a group of each kind."""
    nodes = {"one": node("StatefulSet"), "two": node("Deployment")}
    spec = Asked({"image": "druid:1", "common.runtime.properties": "", "nodes": nodes, "services": [{}]})
    resource = {"metadata": {"name": "a", "namespace": "b"}, "spec": spec}
    cluster = Cluster.from_resource(resource)
    assert validate(cluster, render(cluster)) == ()
    assert (pause_finding(cluster.annotations, cluster.spec), cluster_references(resource)) == (None, ())
    assert (specified(cluster), secrets_of(cluster)) == (SpecifiedConfigs(), ())
    assert deletes_claims(spec)
    assert [*strategy_warnings(cluster)] == []
    assert deadline_seconds(cluster) == DEADLINE_SECONDS
    assert (failing_pods(inputs(cluster)), gate((), inputs(cluster))) == ((), Gated(()))
    assert limits(cluster) == Limits()
    assert (cluster.expands_pvcs, cluster.updates_pvcs) == (False, True)
    assert (cluster.deletes_orphans, cluster.orphan_grace_seconds) == (False, 60)
    assert render(cluster).groups.keys() == nodes.keys()
    return {"spec": spec.names, "node": set.union(*(each.names for each in nodes.values()))}


@pytest.mark.parametrize("level", ["spec", "node"])
def test_fields_that_the_code_reads_are_in_the_schema(level: str, asked: Mapping[str, set[str]]) -> None:
    assert asked[level] - fields(level) - ONLY_AT_ONE_LEVEL[level] == set()


@pytest.mark.parametrize("level", ["spec", "node"])
def test_fields_of_the_schema_are_read_or_have_no_effect(level: str, asked: Mapping[str, set[str]]) -> None:
    assert fields(level) - asked[level] == NO_EFFECT[level]


def test_the_shipped_schema_is_that_of_the_crd() -> None:
    path = ROOT / "plugins" / "plugin_utils" / "_cluster" / "schema.json"
    shipped = json.loads(path.read_text(encoding="utf-8"))
    assert {name: facts(each) for name, each in shipped["properties"].items()} == {
        name: facts(each) for name, each in schema()["properties"].items()
    }


def facts(field: Mapping[str, Any]) -> dict[str, Any]:
    return {name: field.get(name) for name in ("type", "default", "enum", "required")}


@pytest.mark.parametrize(("heading", "level"), [("Spec", "spec"), ("Node", "node")])
def test_the_reference_has_every_field_with_its_default(heading: str, level: str) -> None:
    of_cluster = schema()
    owner = of_cluster if level == "spec" else of_cluster["properties"]["nodes"]["additionalProperties"]
    expected = {name: default(name, field, owner.get("required", [])) for name, field in owner["properties"].items()}
    assert dict(rows(heading)) == expected


def default(name: str, field: Mapping[str, Any], required: list[str]) -> str:
    if name in required:
        return "required"
    return f"`{json.dumps(field['default'])}`" if "default" in field else ""


def rows(heading: str) -> Iterator[tuple[str, str]]:
    """Yield name and default of each row of a table in the reference."""
    text = (ROOT / "docs" / "reference" / "druid.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    for row in section.splitlines():
        if found := re.match(r"\| `([^`]+)`(?: \\\*)? \| [^|]+ \| ([^|]*?) ?\|", row):
            yield found.group(1), found.group(2)
