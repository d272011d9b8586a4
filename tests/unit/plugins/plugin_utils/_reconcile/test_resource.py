# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sources of a run's resource: a file, a mapping, variables, or its name."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import options
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import ARGUMENTS, Request, to_request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import (
    InvalidResource,
    from_document,
    from_spec,
    plain,
    read_file,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid

Manifest = dict[str, Any]

HEAD = {"apiVersion": "druid.apache.org/v1alpha1", "kind": "Druid"}


def file_with(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "resource"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


TEXTS = ["\u0085 \u2028 \u2029", "{{ x }} %s", "\U0001f600", "\x01\x1f\x7f", "2026-01-01", "0123", "yes", "!unsafe x"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("as_ascii", [True, False])
def test_strings_of_a_json_file_are_unchanged(tmp_path: Path, text: str, as_ascii: bool) -> None:
    document = {"a": text, text: "b", "__ansible_unsafe": text, "_ansible_x": 1, "__ansible_vault": "v"}
    assert read_file(file_with(tmp_path, json.dumps(document, ensure_ascii=as_ascii))) == document


YAML: list[tuple[str, Any]] = [
    ("a: 2026-01-01", {"a": "2026-01-01"}),
    ("a: 2026-01-01T00:00:00Z", {"a": "2026-01-01T00:00:00Z"}),
    ("a: '{{ x }}'", {"a": "{{ x }}"}),
    ('a: "\\u2028\\x85"', {"a": "\u2028\u0085"}),
    ("a: |\n  b\n  c\n", {"a": "b\nc\n"}),
    ("a: 1\nb: 0.5\nc: true\nd: null", {"a": 1, "b": 0.5, "c": True, "d": None}),
    ("a: &x {b: c}\nd: *x", {"a": {"b": "c"}, "d": {"b": "c"}}),
    ("# only\n- a list", ["a list"]),
    ("---\na: b\n---\n# nothing\n---\nc: d\n---\n", [{"a": "b"}, {"c": "d"}]),
    ("a: \U0001f600", {"a": "\U0001f600"}),
]


@pytest.mark.parametrize(("text", "document"), YAML)
def test_reads_yaml(tmp_path: Path, text: str, document: Any) -> None:
    assert read_file(file_with(tmp_path, text)) == document


BAD: list[tuple[str | bytes, str]] = [
    (b"\xff\xfe", r"cannot read .*Set the path of a readable UTF-8 file\."),
    ("{not: [json", "is neither JSON nor YAML"),
    ('// a comment\n{"a": 1}', "is neither JSON nor YAML: a comment begins with // in line 1; JSON has no comments"),
    ("a: 1\nb: 2\na: 3", "is neither JSON nor YAML: duplicate key a in line 3, column 1"),
    ("a: !!python/object:os.system x", "is neither JSON nor YAML"),
    ("a: !unsafe x", "is neither JSON nor YAML"),
    ("a: !!timestamp 2026-99-99", "is neither JSON nor YAML"),
    ("", "is empty"),
    ("# nothing\n", "is empty"),
    ("null", "is empty"),
    ("a: !!binary aGk=", "has a value that JSON cannot represent"),
    ("a: !!timestamp 2026-01-01", "has a value that JSON cannot represent"),
    ("a: .nan", "has a value that JSON cannot represent"),
    ('{"a": NaN}', "has a value that JSON cannot represent"),
    ("&a [*a]", "has a value that JSON cannot represent"),
    ("? [a, b]\n: c", "is neither JSON nor YAML"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_invalid_file(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(InvalidResource, match=f"^resource: .*{message}"):
        read_file(file_with(tmp_path, text))


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidResource, match=r"^resource: cannot read .*No such file"):
        read_file(tmp_path / "none")
    with pytest.raises(InvalidResource, match=r"^resource: cannot read "):
        read_file(tmp_path)


def test_complete_resource_is_unchanged() -> None:
    resource = {**druid.resource(), "metadata": {"name": "c", "namespace": "ns", "labels": {"a": "b"}}}
    assert from_document("Druid", resource, None, None) == resource
    assert from_document("Druid", resource, "c", "ns") == resource


def test_exported_resource_is_what_kubectl_would_apply() -> None:
    resource = {**druid.resource(), "status": {"druidNodeStatus": {}}}
    exported = {
        **resource["metadata"],
        "annotations": {
            "a": "b",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
            "druid.apache.org/submitted": "{}",
            "druid.apache.org/deletes-pvcs": "u",
        },
        "finalizers": ["f"],
        "labels": {"l": "m"},
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "generation": 3,
        "deletionGracePeriodSeconds": 0,
        "managedFields": [],
        "resourceVersion": "1",
        "selfLink": "/a",
        "uid": "u",
        "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "of a deleted one"}],
    }
    applied = from_document("Druid", {**resource, "metadata": exported}, None, None)
    expected = {"name": "c", "namespace": "ns", "annotations": {"a": "b"}, "finalizers": ["f"], "labels": {"l": "m"}}
    assert applied == {**druid.resource(), "metadata": expected}


def test_missing_name_and_namespace_are_added() -> None:
    assert from_document("Druid", {**HEAD, "spec": {}}, "c", "ns")["metadata"] == {"name": "c", "namespace": "ns"}
    assert from_document("Druid", {**HEAD, "metadata": None}, "c", "ns")["metadata"] == {"name": "c", "namespace": "ns"}


DOCUMENTS: list[tuple[Any, str | None, str | None, str]] = [
    ("text", "c", "ns", "must be a mapping, not str"),
    ([HEAD], "c", "ns", "must be a mapping, not list"),
    ({}, "c", "ns", "must be of kind Druid in druid.apache.org/v1alpha1, not of kind None in None"),
    ({**HEAD, "kind": "List"}, "c", "ns", "must be of kind Druid in druid.apache.org/v1alpha1, not of kind List"),
    (
        {**HEAD, "apiVersion": "v1"},
        "c",
        "ns",
        "must be of kind Druid in druid.apache.org/v1alpha1, not of kind Druid in v1.",
    ),
    ({**HEAD, "metadata": "c"}, "c", "ns", "metadata must be a mapping, not str"),
    ({**HEAD, "metadata": {"labels": ["a"]}}, "c", "ns", "metadata.labels must be a mapping, not list"),
    ({**HEAD, "metadata": {"annotations": "a"}}, "c", "ns", "metadata.annotations must be a mapping, not str"),
    ({**HEAD, "metadata": {"name": 123}}, None, "ns", "metadata.name must be a string, not 123. Quote it"),
    (HEAD, None, "ns", "metadata.name and the option name are not set"),
    (HEAD, "c", None, "metadata.namespace and the option namespace are not set"),
    ({**HEAD, "metadata": {"name": "c"}}, "d", "ns", "metadata.name is c, but the option name is d. Omit one of them"),
    ({**HEAD, "metadata": {"name": "c", "namespace": "a"}}, "c", "b", "metadata.namespace is a, but the option"),
]


@pytest.mark.parametrize(("document", "name", "namespace", "message"), DOCUMENTS)
def test_invalid_document(document: Any, name: str | None, namespace: str | None, message: str) -> None:
    with pytest.raises(InvalidResource) as caught:
        from_document("Druid", document, name, namespace)
    assert str(caught.value).startswith(f"resource: {message}")


PLAIN: list[tuple[Any, Any]] = [
    (
        {date(2026, 1, 1): "x", "a": [{date(2026, 1, 2): date(2026, 1, 3)}]},
        {"2026-01-01": "x", "a": [{"2026-01-02": "2026-01-03"}]},
    ),
    ({1: {True: None}, 0.5: (1, "b")}, {"1": {"true": None}, "0.5": [1, "b"]}),
    (None, None),
]


@pytest.mark.parametrize(("value", "expected"), PLAIN)
def test_values_that_json_cannot_represent_become_strings(value: Any, expected: Any) -> None:
    assert plain(value) == expected


def test_resource_defined_by_variables() -> None:
    spec = {**druid.resource()["spec"], "unheardOf": 1, "startscript": "/a"}
    resource, warnings = from_spec("Druid", spec, "c", "ns")
    assert resource["metadata"] == {"name": "c", "namespace": "ns"}
    assert resource["spec"]["nodes"]["brokers"]["nodeType"] == "broker"
    assert resource["spec"]["startScript"] == "/druid.sh"
    assert "unheardOf" not in resource["spec"]
    assert warnings == (
        "unknown field spec.unheardOf: it is ignored",
        "unknown field spec.startscript: it is ignored (did you mean startScript?)",
    )
    assert spec["unheardOf"] == 1


def test_invalid_variables() -> None:
    with pytest.raises(InvalidResource, match=r"^Druid c is invalid: spec\.common\.runtime\.properties.*; spec\.nodes"):
        from_spec("Druid", {}, "c", "ns")


def arguments(**specified: Any) -> dict[str, Any]:
    """Return the arguments of a task as Ansible passes them."""
    return {name: option.get("default") for name, option in {**ARGUMENTS, **options.ARGUMENTS}.items()} | specified


def request(check_mode: bool = False, **overrides: Any) -> Request[options.Options]:
    specified = arguments(**overrides)
    return to_request("Druid", specified, options.to_options(specified, check_mode, Meter()), lambda path: path)


RESOURCE = {**HEAD, "metadata": {"name": "c"}, "spec": {}}
NAMESPACED = {**HEAD, "metadata": {"name": "c", "namespace": "there"}, "spec": {}}
# (arguments, name, namespace, with a resource, without a resource, absent)
REQUESTS: list[tuple[dict[str, Any], str, str, bool, bool, bool]] = [
    ({"name": "c"}, "c", "default", False, False, False),
    ({"name": "c", "namespace": "ns"}, "c", "ns", False, False, False),
    ({"name": "c", "state": "absent"}, "c", "default", False, False, True),
    ({"resource": RESOURCE}, "c", "default", True, False, False),
    ({"resource": RESOURCE, "namespace": "ns"}, "c", "ns", True, False, False),
    ({"resource": NAMESPACED}, "c", "there", True, False, False),
    ({"resource": NAMESPACED, "name": "c", "namespace": "there"}, "c", "there", True, False, False),
    ({"resource": NAMESPACED, "without_resource": True}, "c", "there", True, False, False),
    ({"name": "c", "spec": {}}, "c", "default", False, True, False),
    ({"name": "c", "without_resource": True, "state": "absent"}, "c", "default", False, True, True),
]


@pytest.mark.parametrize(("specified", "name", "namespace", "has_resource", "without_resource", "absent"), REQUESTS)
def test_request_of_a_task(
    specified: dict[str, Any], name: str, namespace: str, has_resource: bool, without_resource: bool, absent: bool
) -> None:
    created = request(**specified)
    assert (created.name, created.namespace) == (name, namespace)
    assert created.is_default_namespace == (namespace == "default")
    assert (created.resource is not None, created.without_resource, created.absent) == (
        has_resource,
        without_resource,
        absent,
    )


ROLE: dict[str, Any] = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "pods"}}
OTHER = {**HEAD, "metadata": {"name": "d", "namespace": "ns"}}
# (resource, options, spec, not applied)
RENAMED = {**OTHER, "spec": {"image": "d"}}
SELECTED: list[tuple[Any, dict[str, Any], Any, str]] = [
    ([ROLE, RESOURCE], {}, {}, "Role pods"),
    ([ROLE, {**HEAD, "spec": {}}], {"name": "c"}, {}, "Role pods"),
    ({"apiVersion": "v1", "kind": "List", "items": [ROLE, RESOURCE]}, {}, {}, "Role pods"),
    ({"apiVersion": "v1", "kind": "List", "items": [RESOURCE]}, {}, {}, ""),
    ([{"kind": "DruidList", "items": [RESOURCE, OTHER]}], {"name": "c"}, {}, "Druid d in namespace ns"),
    ([RESOURCE, RENAMED, NAMESPACED], {"name": "d"}, RENAMED["spec"], "Druid c, Druid c in namespace there"),
    ([NAMESPACED, RESOURCE], {"name": "c", "namespace": "x"}, {}, "Druid c in namespace there"),
]


@pytest.mark.parametrize(("resource", "specified", "spec", "not_applied"), SELECTED)
def test_one_of_several_documents(resource: Any, specified: dict[str, Any], spec: Any, not_applied: str) -> None:
    created = request(resource=resource, **specified)
    assert created.resource is not None
    assert (created.name, created.resource.get("spec")) == (specified.get("name", "c"), spec)
    assert created.not_applied.partition("kubectl: ")[2] == (f"{not_applied}." if not_applied else "")


# (resource, options, message)
UNDECIDED: list[tuple[Any, dict[str, Any], str]] = [
    ([RESOURCE, ROLE, NAMESPACED], {}, "has 2 among 3 documents: Druid c, Druid c in namespace there. Set the option"),
    ([RESOURCE, OTHER], {"name": "e"}, "one Druid in druid.apache.org/v1alpha1 with the name e, and has 0 among 2"),
    ([ROLE, ROLE, "text"], {"name": "c"}, "has 0 among 3 documents: Role pods, Role pods, a document without a kind"),
    ({"kind": "List", "items": []}, {"name": "c"}, "has 0 among 0 documents: none. Add one, or set another file."),
    ([NAMESPACED, {**OTHER, "metadata": {"name": "c", "namespace": "y"}}], {"name": "c", "namespace": "x"}, "has 0"),
]


@pytest.mark.parametrize(("resource", "specified", "message"), UNDECIDED)
def test_several_documents_of_which_none_is_selected(resource: Any, specified: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidResource, match=r"^resource: must have one Druid") as rejected:
        request(resource=resource, **specified)
    assert message in str(rejected.value)


@pytest.mark.parametrize("spec", [{"image": "a"}, '{"image": "a"}', "image: a\n"])
def test_spec_is_a_structure_or_text(spec: Any) -> None:
    created = request(name="c", spec=spec)
    assert (created.spec, created.without_resource) == ({"image": "a"}, True)


@pytest.mark.parametrize("spec", ["", "- a", "{hunter2", 5, ["a"]])
def test_spec_that_is_not_a_mapping_is_rejected(spec: Any) -> None:
    with pytest.raises(InvalidResource, match=r"^spec: ") as rejected:
        request(name="c", spec=spec)
    assert "hunter2" not in str(rejected.value)


def test_options_of_a_task() -> None:
    created = request(True, name="c", wait=True, wait_timeout=7, wait_sleep=3, allowed_reference_namespaces=["a"])
    assert (created.wait, created.wait_timeout, created.wait_sleep) == (True, 7, 3)
    assert created.options.check_mode
    assert created.options.allowed_reference_namespaces == ("a",)


def test_file_is_found_by_ansible(tmp_path: Path) -> None:
    path = file_with(tmp_path, json.dumps(NAMESPACED))
    names: list[str] = []

    def find(name: str) -> str:
        names.append(name)
        return str(path)

    assert to_request("Druid", arguments(resource="files/druid.yml"), options.Options(), find).resource == NAMESPACED
    assert names == ["files/druid.yml"]


@pytest.mark.parametrize("text", ["", "- a", "text"])
def test_file_without_a_resource_is_rejected(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidResource):
        request(resource=str(file_with(tmp_path, text)), name="c")
