# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Specifications as strings.

YAML is read as kubectl reads it: the tables are the results of kubectl 1.32 (create --dry-run=client).
"""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.module_utils._values import parse
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.parse import parse_mapping
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": [1, null]}', {"a": [1, None]}),
        ("a: [1, null]", {"a": [1, None]}),
        # Druid requires the string, not a date
        ("interval: 2026-01-01", {"interval": "2026-01-01"}),
    ],
)
def test_parse_mapping(value: Any, expected: Any) -> None:
    assert parse_mapping(value, "spec") == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("[1]", "spec: must be a mapping, or a JSON or YAML string of one, not a list"),
        (None, "spec: must be a mapping, or a JSON or YAML string of one, not null"),
        ("true", "not a boolean"),
        (5, "not a number"),
        ("kafka", "not a string"),
        (
            "specs/kafka.json",
            "spec ('specs/kafka.json'): is the path of a file. Read the file with a lookup: "
            "\"{{ lookup('ansible.builtin.file', 'specs/kafka.json') }}\"",
        ),
        ("my specs.yaml", "lookup('ansible.builtin.file', 'my specs.yaml')"),
        ("kafka.json.j2", "lookup('ansible.builtin.template', 'kafka.json.j2')"),
        # broken JSON is not reported as broken YAML
        ('{"type": "kafka",\n "id" "a"}', "spec: is not valid JSON: Expecting ':' delimiter in line 2, column 7"),
        ('{"type": "kafka",\n\t"id": "a"\n\t"b": 1}', "spec: is not valid JSON: Expecting ',' delimiter in line 3"),
        ('  {\n "password": "hunter2', "spec: is not valid JSON: Unterminated string in line 2, column 14"),
        ('{"a": "\n"b}', "is not valid JSON: Invalid control character in line 1, column 8"),
        ("{", "is not valid JSON: Expecting property name enclosed in double quotes in line 1, column 2"),
        ('["a", {"b" 1}]', "is not valid JSON: Expecting ':' delimiter in line 1, column 12"),
        ('{\n  // b\n  "a": 1\n}', "spec: is neither JSON nor YAML: a comment begins with // in line 2; JSON has no "),
        # YAML has a key of two lines here
        ('{"a": 1, // b\n "c": 2}', "a comment begins with // in line 1"),
        ('{"url": "http://a", "b": 1, /* c */}', "a comment begins with /* in line 1"),
        ('{"url": "http://a" "b": 1}', "is not valid JSON: Expecting ',' delimiter"),
        ('{"a": 1} {', "is not valid JSON: Extra data in line 1, column 10"),
        ("{type: kafka, a: b: c}", "spec: is neither JSON nor YAML"),
        ('{"a": ' + 100_000 * "[", "spec: it is nested too deeply (more than 100 levels)"),
        ("password: x: y", "spec: is neither JSON nor YAML: mapping values are not allowed"),
        ("a: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
    ],
)
def test_rejects_other_values_than_mappings(value: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_mapping(value, "spec")

    assert message in str(refusal.value)


TEXTS = (
    *("12:30:45", "1:30", "190:20:30", "1:2", "a:b", "=", "2026-01-01", "2001-12-14t21:59:43.10-05:00", "::1"),
    *("0o8", "1e", "0x", "0b", "1,000", "1E400", "1.2.3", "+", ".", "1-2", "10Gi", "yEs", "nUll", "NaN"),
)
VALUES: dict[str, Any] = {
    **dict.fromkeys(("yes", "on", "y", "Y", "Yes", "YES", "On", "TRUE", "True", "true"), True),
    **dict.fromkeys(("no", "off", "n", "N", "NO", "false", "OFF"), False),
    **dict.fromkeys(("~", "null", "Null", "NULL", ""), None),
    "0123": 83,
    "-017": -15,
    "0o17": 15,
    "0x1F": 31,
    "-0x1F": -31,
    "0b101": 5,
    "0_1": 1,
    "08": 8,
    "09": 9,
    "1_000": 1000,
    "1__0": 10,
    "+1": 1,
    "-1": -1,
    "-0": 0,
    "0": 0,
    "1e3": 1000,
    "1.": 1,
    "12e03": 12000,
    "1.5": 1.5,
    ".5": 0.5,
    "1_000.5": 1000.5,
    "6.8523015e+5": 685230.15,
    "685_230.15": 685230.15,
    "!!str 1": "1",
    '"1"': "1",
    "'yes'": "yes",
    "!!int '3'": 3,
    "!!float 1": 1,
    "!!bool 'yes'": True,
}


@pytest.mark.parametrize("text", TEXTS)
def test_stays_a_string(text: str) -> None:
    assert parse.load_yaml(f"x: {text}\n") == {"x": text}


@pytest.mark.parametrize(("text", "value"), VALUES.items())
def test_becomes_a_value(text: str, value: Any) -> None:
    found = parse.load_yaml(f"x: {text}\n")["x"]
    assert (found, type(found)) == (value, type(value))


def test_large_integers() -> None:
    assert parse.load_yaml("[9223372036854775807, 18446744073709551615]") == [2**63 - 1, 2**64 - 1]
    assert parse.load_yaml("99999999999999999999") == 10**20


@pytest.mark.parametrize(("text", "value"), {".inf": math.inf, "-.INF": -math.inf, "+.inf": math.inf}.items())
def test_values_without_a_json_form(text: str, value: float) -> None:
    assert parse.load_yaml(text) == value


def test_letters_are_names_for_ansible() -> None:
    text = "dims: [x, y, N]\ny: n\nrollup: yes\nsuspended: Off"
    read = {"dims": ["x", "y", "N"], "y": "n", "rollup": True, "suspended": False}
    assert parse_mapping(text, "spec", "ansible") == read == yaml.safe_load(text)
    # as kubectl reads the file of a resource
    assert parse.load_yaml("[x, y, N]") == ["x", True, False]


@pytest.mark.parametrize(
    ("text", "value"),
    {
        **{word: word for word in ("no", "on", "Off", "YES", "y", "N", "2026-01-01", "1:30", "1.2.3")},
        "true": True,
        "True": True,
        "FALSE": False,
        "~": None,
        "1": 1,
        "1.0": 1.0,
        "1e3": 1000.0,
        "0.1": 0.1,
        "-0x1F": -31,
        ".5": 0.5,
        "18446744073709551617": 2**64 + 1,
        "-" + "9" * 100: -(10**100 - 1),
    }.items(),
)
def test_a_document_for_druid_has_what_is_written(text: str, value: Any) -> None:
    found = parse_mapping(f"x: {text}\n", "spec")["x"]
    assert (found, type(found)) == (value, type(value))
    assert json.loads(json.dumps(found)) == value


def test_keys_of_a_document_for_druid_are_as_written() -> None:
    assert parse_mapping("no: a\n1.0: b\ntrue: c", "spec") == {"no": "a", "1.0": "b", "true": "c"}


@pytest.mark.parametrize(
    ("text", "document"),
    {
        "1: a\nyes: b\n1.5: c\n0x10: d\n2026-01-01: e": {
            "1": "a",
            "true": "b",
            "1.5": "c",
            "16": "d",
            "2026-01-01": "e",
        },
        "a: &x {b: c}\nd: *x": {"a": {"b": "c"}, "d": {"b": "c"}},
        "x: {<<: {a: 1}, a: 2}": {"x": {"a": 2}},
        "c: &c {a: 1}\nx: {z: &b {<<: *c, a: 2}}\nd: {<<: *b, e: 3}": {
            "c": {"a": 1},
            "x": {"z": {"a": 2}},
            "d": {"a": 2, "e": 3},
        },
        "a: &a {x: 1, w: 1}\nb: &b {x: 2, z: 2}\nc: {<<: [*a, *b], w: 3}": {
            "a": {"x": 1, "w": 1},
            "b": {"x": 2, "z": 2},
            "c": {"x": 1, "z": 2, "w": 3},
        },
        "---\na: 1\n---\n": {"a": 1},
        "": None,
    }.items(),
)
def test_documents(text: str, document: Any) -> None:
    assert parse.load_yaml(text) == document


@pytest.mark.parametrize(
    ("text", "words"),
    {
        "a: 1\nb: {c: 1, c: 2}": "duplicate key c in line 2, column 11",
        "1: a\n'1': b": "duplicate key 1 in line 2, column 1",
        "null: b": "a key must be a string in line 1, column 1",
        "? [a]\n: b": "a key must be a string in line 1, column 3",
        "a: 1\n---\nb: 1\n---\nc: 1": "it contains 3 documents, but only one is allowed; remove the others",
        "password: hunter2: x": "mapping values are not allowed",
        "a: {<<: hunter2}": "this must be a mapping in line 1, column 9",
        "a: {<<: [{b: c}, [d]]}": "this must be a mapping in line 1, column 18",
        "a: !!map [b]": "this must be a mapping in line 1, column 4",
        "a: !!map hunter2": "this must be a mapping in line 1, column 4",
        "a: &a {<<: *a}": "it is nested too deeply",
        "[" * 5000: "",
    }.items(),
)
def test_error_does_not_quote_the_document(text: str, words: str) -> None:
    with pytest.raises(parse.InvalidYaml) as refusal:
        parse.load_yaml(text)
    assert words in str(refusal.value)
    assert "hunter2" not in str(refusal.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_reads_the_output_of_a_dumper(document: Any) -> None:
    assert parse.load_yaml(yaml.safe_dump(document, default_style='"')) == document
