# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whatever our CRDs accept, the Go operator decodes: one resource that it cannot decode keeps it from reading any."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from ansible_collections.druidops.druid.tests.system.support import go_cluster, schema_values
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest, NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.schema_values import ANY, Schema, fields, holding, values
from testbed.api import ApiError
from testbed.go_operator import GoOperatorProgram

ROOT = Path(__file__).parents[3]
CRDS = {"Druid": "druids", "DruidIngestion": "druidingestions"}
DECODED = yaml.safe_load((ROOT / "tests/unit/tools/crd/go_operator.yml").read_text(encoding="utf-8"))["kinds"]
# Also an ignored resource is decoded.
IGNORED = {"druid.apache.org/ignored": "true"}
NEIGHBOR = "neighbor"
REJECTED = 422
# Of client-go, which reads all resources of a kind again until it can decode them.
DECODING_ERROR = re.compile(r"^.*(?:unable to decode|[Ff]ailed to (?:list|watch)).*$", re.M)


class Field(NamedTuple):
    """A field of a kind that the Go operator decodes, with all fields inside it."""

    kind: str
    part: str
    path: schema_values.Path

    def __str__(self) -> str:
        return ".".join((self.kind, self.part, *self.path))


def _fields() -> Iterator[Field]:
    for kind, parts in DECODED.items():
        for part, decoded in parts.items():
            known = schemas(kind)[part]["properties"].keys()
            yield from (Field(kind, part, (name,)) for name in decoded if name in known and name != "nodes")
    nodes = DECODED["Druid"]["spec"]["nodes"][ANY]
    yield from (Field("Druid", "spec", ("nodes", ANY, name)) for name in nodes)


@cache
def schemas(kind: str) -> dict[str, Schema]:
    """Return the schemas of the parts of our kind."""
    text = (ROOT / "config" / "crd" / f"{CRDS[kind]}.yaml").read_text(encoding="utf-8")
    crd = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    properties: dict[str, Schema] = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    return properties


def cases(field: Field) -> Iterator[tuple[schema_values.Path, Any]]:
    """Yield each value for the field and for those inside it."""
    for path, schema in fields(schema_values.at(schemas(field.kind)[field.part], field.path), field.path):
        yield from ((path, value) for value in values(schema))


def resource(field: Field, name: str, path: schema_values.Path, value: Any) -> Manifest:
    """Return a resource with the required fields, and this value at the path."""
    parts = {part: schema_values.least(schemas(field.kind)[part]) for part in ("spec", field.part)}
    parts[field.part] = holding(schemas(field.kind)[field.part], path, value)
    return {"kind": field.kind, "metadata": {"name": name, "annotations": IGNORED}, **parts}


def is_accepted(live: NamespaceClient, manifest: Manifest, part: str) -> bool:
    """Create the resource, with its status, if the API server accepts both."""
    try:
        created = live.create(manifest)
        if part == "status":
            path = f"{live.path(manifest['kind'], manifest['metadata']['name'])}/status"
            live.plane.request("PUT", path, {**created, "status": manifest["status"]}, user="person")
    except ApiError as error:
        if error.status != REJECTED:
            raise
        return False
    return True


def create_neighbor(live: NamespaceClient, kind: str) -> None:
    """Create a resource that the Go operator serves."""
    manifest = go_cluster.resource(NEIGHBOR)
    if kind == "DruidIngestion":
        spec = {"druidCluster": "none-such", "ingestion": {"type": "kafka", "spec": "{}"}}
        manifest = {"kind": kind, "metadata": {"name": NEIGHBOR}, "spec": spec}
    live.create(manifest)


def serves_neighbor(live: NamespaceClient, kind: str, log: str) -> bool:
    """True if the Go operator has reconciled it; without its cluster, an ingestion is only mentioned in the log."""
    if kind == "DruidIngestion":
        return f'"name": "{NEIGHBOR}"' in log
    return live.find("StatefulSet", f"druid-{NEIGHBOR}-brokers") is not None


@pytest.mark.parametrize("field", list(_fields()), ids=str)
def test_accepted_values_do_not_stop_the_go_operator(
    field: Field,
    live: NamespaceClient,
    go_operator: GoOperatorProgram,
    record_property: Callable[[str, object], None],
) -> None:
    go_operator.start()
    accepted: Counter[schema_values.Path] = Counter()
    for number, (path, value) in enumerate(cases(field)):
        accepted[path] += is_accepted(live, resource(field, f"r{number}", path, value), field.part)
    record_property("reported", f"{field}: {accepted.total()} of {number + 1} values are accepted")
    assert [path for path, count in accepted.items() if not count] == []

    create_neighbor(live, field.kind)
    eventually(
        lambda: DECODING_ERROR.search(go_operator.log) or serves_neighbor(live, field.kind, go_operator.log),
        otherwise=lambda: go_operator.log[-3000:],
    )
    errors = DECODING_ERROR.findall(go_operator.log)
    assert not errors, "\n".join(errors)
    go_operator.ensure_running()
