# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is committed keeps what the generator promises."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.tools.crd import generate
from ansible_collections.druidops.druid.tools.crd.definition import LARGEST, TooLargeError, as_yaml
from ansible_collections.druidops.druid.tools.crd.openapi import CACHED, OpenApiError, load
from ansible_collections.druidops.druid.tools.crd.reference import reference
from ansible_collections.druidops.druid.tools.crd.structure import KINDS as WRITTEN
from ansible_collections.druidops.druid.tools.crd.structure import structure
from ansible_collections.druidops.druid.tools.crd.table import Table, without

ROOT = Path(__file__).parents[4]
FIELDS = ROOT / "tools/crd/fields"
KINDS = {f"{name.replace('_', '')}s": name for name in generate.SCHEMAS}
CRDS = {name: yaml.safe_load((ROOT / "config/crd" / f"{name}.yaml").read_text()) for name in KINDS}
TABLES = {name: Table.load(FIELDS / f"{kind}.yml", FIELDS / "access.yml") for name, kind in KINDS.items()}


def root(name: str) -> dict[str, Any]:
    [version] = CRDS[name]["spec"]["versions"]
    schema: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    return schema


def parts(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema inside, by its path."""
    yield path, schema
    for name, inside in schema.get("properties", {}).items():
        yield from parts(inside, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from parts(schema[key], f"{path}.*")


@pytest.mark.parametrize("name", KINDS)
def test_no_rule_blocks_the_removal_of_a_resource(name: str) -> None:
    ruled = [path for path, schema in parts(root(name)) if "x-kubernetes-validations" in schema]
    assert not {"", ".spec", ".metadata", ".status"} & set(ruled)


@pytest.mark.parametrize("name", KINDS)
def test_no_list_of_the_spec_rejects_duplicates(name: str) -> None:
    assert not [path for path, part in parts(root(name)["properties"]["spec"]) if "x-kubernetes-list-type" in part]


@pytest.mark.parametrize("name", KINDS)
def test_exactly_our_fields_have_descriptions(name: str) -> None:
    table = TABLES[name]
    described = sum("description" in part for _path, part in parts(root(name)))
    used = [table["spec"], table["status"]]
    for own in used:
        used += [field.element for field in table.fields(own) if field.element in table]
    assert described == sum(len(table.fields(own)) for own in used) + len(("root", "spec", "status"))


@pytest.mark.parametrize("name", KINDS)
def test_crd_fits_into_the_annotation_of_an_apply(name: str) -> None:
    assert len(json.dumps(CRDS[name], separators=(",", ":"))) < LARGEST


@pytest.mark.parametrize("name", KINDS)
def test_the_reference_is_that_of_the_table(name: str) -> None:
    assert (ROOT / "docs/reference" / f"{KINDS[name]}.md").read_text() == reference(TABLES[name])


@pytest.mark.parametrize("name", KINDS)
def test_the_schema_for_variables_is_that_of_the_crd(name: str) -> None:
    shipped = json.loads((ROOT / generate.SCHEMAS[KINDS[name]]).read_text())
    spec = root(name)["properties"]["spec"]
    assert shipped == without(spec, "description", "x-kubernetes-validations")


def test_the_samples_are_of_these_kinds() -> None:
    for name in KINDS:
        file = ROOT / "config/samples" / f"{name.removesuffix('s')}.yaml"
        assert yaml.safe_load(file.read_text())["kind"] == CRDS[name]["spec"]["names"]["kind"]


def test_a_crd_that_is_too_large_is_not_written() -> None:
    with pytest.raises(TooLargeError, match=r"druids\.druid\.apache\.org has \d+ bytes as JSON, more than 220000"):
        as_yaml({**CRDS["druids"], "x": "x" * LARGEST})


# In every type of the fake documents there is all that a table reaches into.
REACHED: dict[str, dict[str, Any]] = {
    "Any": {"metadata": "Metadata", "spec": "Spec", "httpGet": "Get", "protocol": None, "service": None},
    "Metadata": {"name": None},
    "Spec": {"resources": "Resources"},
    "Resources": {"requests": "Requests"},
    "Requests": {},
    "Get": {"port": None},
}


def fake(name: str) -> dict[str, Any]:
    """An object with these fields, all required."""
    fields = {field: reference_to(kind) if kind else {"type": "string"} for field, kind in REACHED[name].items()}
    free = {} if fields else {"additionalProperties": {"type": "string"}}
    return {"type": "object", "properties": fields, "required": sorted(fields), **free}


def reference_to(kind: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/io.k8s.api.fake.{kind}"}


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A directory of OpenAPI documents that has every type that the tables use."""
    used = {field.element for table in TABLES.values() for own in table["types"] for field in table.fields(own)}
    names = {name if name.startswith("apimachinery.") else f"api.{name}" for name in used if "." in name}
    schemas = {f"io.k8s.{name}": fake("Any") for name in names} | {name: fake("Any") for name in WRITTEN.values()}
    schemas.update({f"io.k8s.api.fake.{name}": fake(name) for name in REACHED})
    path = tmp_path / "openapi"
    path.mkdir()
    (path / "all.json").write_text(json.dumps({"components": {"schemas": schemas}}))
    return path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["generate", *arguments])
    return generate.main()


def test_check_reports_differing_files(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--openapi", str(documents), "--root", str(tmp_path))
    assert run(monkeypatch, *arguments) == 0
    assert run(monkeypatch, *arguments, "--check") == 0
    (tmp_path / "docs/reference/druid.md").write_text("changed")
    (tmp_path / "config/crd/druids.yaml").unlink()
    assert run(monkeypatch, *arguments, "--check") == 1
    assert capsys.readouterr().err.splitlines() == [
        "config/crd/druids.yaml differs from the output of tools.crd.generate; run `make crds`",
        "docs/reference/druid.md differs from the output of tools.crd.generate; run `make crds`",
    ]
    assert not (tmp_path / "config/crd/druids.yaml").exists()


def test_directory_without_documents_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--openapi", str(tmp_path), "--check") == 1
    assert capsys.readouterr().err == f"no OpenAPI document (*.json) in {tmp_path}\n"


def test_unknown_type_names_the_remedy() -> None:
    with pytest.raises(OpenApiError, match=r"io\.k8s\.api\.batch\.v1\.JobSpec: .* run `make openapi`"):
        load(CACHED)["io.k8s.api.batch.v1.JobSpec"]


def reference_of(name: str) -> dict[str, Any]:
    return {"allOf": [{"$ref": f"#/components/schemas/{name}"}]}


# Schema of a field in OpenAPI, and what is kept of it; None for a scalar.
FIELDS = [
    ({"type": "string"}, None),
    (reference_of("io.k8s.Port"), {"type": "Port"}),
    (reference_of("io.k8s.Selector"), {"type": "Selector", "atomic": True}),
    (reference_of("io.k8s.apimachinery.pkg.api.resource.Quantity"), {"type": "Quantity"}),
    ({"type": "array", "items": {"type": "string"}}, {"list": None}),
    ({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}, {"set": True}),
    ({"type": "array", "items": reference_of("io.k8s.Port")}, {"list": "Port"}),
    (
        {
            "type": "array",
            "items": reference_of("io.k8s.Port"),
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port", "protocol"],
        },
        {"list": "Port", "keys": ["port", "protocol"], "defaults": {"protocol": "TCP"}},
    ),
    (
        {
            "type": "array",
            "items": reference_of("io.k8s.Selector"),
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
        {"list": "Selector", "keys": ["name"], "atomic_elements": True},
    ),
    ({"type": "object", "additionalProperties": {"type": "string"}}, {"map": None}),
]


@pytest.mark.parametrize(("schema", "kept"), FIELDS)
def test_the_structure_keeps_what_server_side_apply_needs(schema: dict[str, Any], kept: dict[str, Any] | None) -> None:
    name = {"name": {"type": "string"}}
    schemas: dict[str, Any] = {kind: {"type": "object", "properties": {"field": schema}} for kind in WRITTEN.values()}
    schemas["io.k8s.Port"] = {"type": "object", "properties": {"port": {}, "protocol": {"default": "TCP"}}}
    schemas["io.k8s.Selector"] = {"type": "object", "properties": name, "x-kubernetes-map-type": "atomic"}
    schemas["io.k8s.apimachinery.pkg.api.resource.Quantity"] = {"type": "string"}
    assert structure(schemas)["types"]["StatefulSet"] == ({} if kept is None else {"field": kept})
