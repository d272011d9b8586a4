# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the resource of a run comes from."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import options
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import ARGUMENTS, Request, to_request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_input import (
    InvalidResource,
    from_document,
    from_spec,
    plain,
    read_file,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid

Manifest = dict[str, Any]

HEAD = {"apiVersion": "druid.apache.org/v1alpha1", "kind": "Druid"}


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "resource"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


TEXTS = ["\u0085 \u2028 \u2029", "{{ x }} %s", "\U0001f600", "\x01\x1f\x7f", "2026-01-01", "0123", "yes", "!unsafe x"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("as_ascii", [True, False])
def test_text_of_a_json_file_is_kept(tmp_path: Path, text: str, as_ascii: bool) -> None:
    document = {"a": text, text: "b", "__ansible_unsafe": text, "_ansible_x": 1, "__ansible_vault": "v"}
    assert read_file(written(tmp_path, json.dumps(document, ensure_ascii=as_ascii))) == document


YAML: list[tuple[str, Any]] = [
    ("a: 2026-01-01", {"a": "2026-01-01"}),
    ("a: 2026-01-01T00:00:00Z", {"a": "2026-01-01T00:00:00Z"}),
    ("a: '{{ x }}'", {"a": "{{ x }}"}),
    ('a: "\\u2028\\x85"', {"a": "\u2028\u0085"}),
    ("a: |\n  b\n  c\n", {"a": "b\nc\n"}),
    ("a: 1\nb: 0.5\nc: true\nd: null", {"a": 1, "b": 0.5, "c": True, "d": None}),
    ("a: &x {b: c}\nd: *x", {"a": {"b": "c"}, "d": {"b": "c"}}),
    ("# only\n- a list", ["a list"]),
    ("a: \U0001f600", {"a": "\U0001f600"}),
]


@pytest.mark.parametrize(("text", "document"), YAML)
def test_reads_yaml(tmp_path: Path, text: str, document: Any) -> None:
    assert read_file(written(tmp_path, text)) == document


BAD: list[tuple[str | bytes, str]] = [
    (b"\xff\xfe", r"cannot read .*Set the path of a readable UTF-8 file\."),
    ("{not: [json", "is neither JSON nor YAML"),
    (
        "a: b\n---\nc: d",
        "is neither JSON nor YAML: it contains 2 documents, but only one is allowed; remove the others",
    ),
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


@pytest.mark.parametrize(("text", "words"), BAD)
def test_says_what_is_wrong_with_a_file(tmp_path: Path, text: str | bytes, words: str) -> None:
    with pytest.raises(InvalidResource, match=f"^resource: .*{words}"):
        read_file(written(tmp_path, text))


def test_says_that_a_file_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidResource, match=r"^resource: cannot read .*No such file"):
        read_file(tmp_path / "none")
    with pytest.raises(InvalidResource, match=r"^resource: cannot read "):
        read_file(tmp_path)


def test_takes_a_resource_as_it_is() -> None:
    resource = druid.resource()
    assert from_document("Druid", resource, None, None) == resource
    assert from_document("Druid", resource, "c", "ns") == resource


def test_completes_name_and_namespace() -> None:
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


@pytest.mark.parametrize(("document", "name", "namespace", "words"), DOCUMENTS)
def test_says_what_a_document_lacks(document: Any, name: str | None, namespace: str | None, words: str) -> None:
    with pytest.raises(InvalidResource) as caught:
        from_document("Druid", document, name, namespace)
    assert str(caught.value).startswith(f"resource: {words}")


PLAIN: list[tuple[Any, Any]] = [
    (
        {date(2026, 1, 1): "x", "a": [{date(2026, 1, 2): date(2026, 1, 3)}]},
        {"2026-01-01": "x", "a": [{"2026-01-02": "2026-01-03"}]},
    ),
    ({1: {True: None}, 0.5: (1, "b")}, {"1": {"true": None}, "0.5": [1, "b"]}),
    (None, None),
]


@pytest.mark.parametrize(("stated", "expected"), PLAIN)
def test_takes_what_yaml_knows_and_json_does_not_for_its_text(stated: Any, expected: Any) -> None:
    assert plain(stated) == expected


def test_makes_a_resource_of_variables() -> None:
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


def test_says_what_is_wrong_with_variables() -> None:
    with pytest.raises(InvalidResource, match=r"^Druid c is invalid: spec\.common\.runtime\.properties.*; spec\.nodes"):
        from_spec("Druid", {}, "c", "ns")


def arguments(**stated: Any) -> dict[str, Any]:
    """Return the arguments of a task as Ansible gives them."""
    return {name: option.get("default") for name, option in {**ARGUMENTS, **options.ARGUMENTS}.items()} | stated


def request(check_mode: bool = False, **stated: Any) -> Request[options.Options]:
    specified = arguments(**stated)
    return to_request("Druid", specified, options.to_options(specified, check_mode, Meter()), lambda path: path)


RESOURCE = {**HEAD, "metadata": {"name": "c"}, "spec": {}}
PLACED = {**HEAD, "metadata": {"name": "c", "namespace": "there"}, "spec": {}}
# (arguments, name, namespace, by a resource, by variable, absent)
REQUESTS: list[tuple[dict[str, Any], str, str, bool, bool, bool]] = [
    ({"name": "c"}, "c", "default", False, False, False),
    ({"name": "c", "namespace": "ns"}, "c", "ns", False, False, False),
    ({"name": "c", "state": "absent"}, "c", "default", False, False, True),
    ({"resource": RESOURCE}, "c", "default", True, False, False),
    ({"resource": RESOURCE, "namespace": "ns"}, "c", "ns", True, False, False),
    ({"resource": PLACED}, "c", "there", True, False, False),
    ({"resource": PLACED, "name": "c", "namespace": "there"}, "c", "there", True, False, False),
    ({"resource": PLACED, "without_resource": True}, "c", "there", True, False, False),
    ({"name": "c", "spec": {}}, "c", "default", False, True, False),
    ({"name": "c", "without_resource": True, "state": "absent"}, "c", "default", False, True, True),
]


@pytest.mark.parametrize(("stated", "name", "namespace", "by_resource", "without_resource", "absent"), REQUESTS)
def test_understands_a_task(
    stated: dict[str, Any], name: str, namespace: str, by_resource: bool, without_resource: bool, absent: bool
) -> None:
    made = request(**stated)
    assert (made.name, made.namespace) == (name, namespace)
    assert made.is_default_namespace == (namespace == "default")
    assert (made.resource is not None, made.without_resource, made.absent) == (by_resource, without_resource, absent)


def test_passes_on_how_to_go_about_it() -> None:
    made = request(True, name="c", wait=True, wait_timeout=7, wait_sleep=3, allowed_reference_namespaces=["a"])
    assert (made.wait, made.wait_timeout, made.wait_sleep) == (True, 7, 3)
    assert made.options.check_mode
    assert made.options.allowed_reference_namespaces == ("a",)


def test_finds_the_file_of_a_resource(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps(PLACED))
    asked: list[str] = []

    def find(name: str) -> str:
        asked.append(name)
        return str(path)

    assert to_request("Druid", arguments(resource="files/druid.yml"), options.Options(), find).resource == PLACED
    assert asked == ["files/druid.yml"]


@pytest.mark.parametrize("text", ["", "- a", "text"])
def test_a_file_that_is_no_resource_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidResource):
        request(resource=str(written(tmp_path, text)), name="c")
