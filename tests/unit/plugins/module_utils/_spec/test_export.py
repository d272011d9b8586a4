# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbook has Druid's texts as they are, and variables whose names belong to one secret."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import masked
from ansible_collections.druidops.druid.plugins.module_utils._spec.export import (
    Task,
    Variable,
    is_exported,
    playbook,
    variables_in,
    with_variables,
    without_nulls,
)

DIGEST = len("_0123456789abcdef")


class Unsafe(str):
    """A text that is no template."""


class Loader(yaml.SafeLoader):
    """Reads the tag of Ansible."""


Loader.add_constructor("!unsafe", lambda loader, node: Unsafe(loader.construct_scalar(node)))


def document(kind: str, identifier: str, value: Any) -> Any:
    return with_variables(value, masked(value), Variable(kind, identifier, ()))


def exported_of(module: str, options: Any) -> str:
    return playbook([Task("a", module, options)], ["http://a:1", "https://b"])


def tasks_of(text: str) -> list[dict[str, Any]]:
    [play] = yaml.load(text, Loader)
    tasks: list[dict[str, Any]] = play["tasks"]
    return tasks


@pytest.mark.parametrize(
    ("text", "is_template"),
    [
        ("{{ a }}", True),
        ("a {% raw %}", True),
        ("a {# b", True),
        ("#jinja2: trim_blocks:False", True),
        ("}} %} {a} a #jinja2:", False),
        ("a: #b\n- c\n--- \u2028\ud800\U0001f600", False),
        # what YAML reads as line breaks
        *((f"a{each}b", False) for each in "\n\r\x85\u2028\u2029"),
        *((text, False) for text in ("", "no", "010", "1e3", "12:30:45", "2020-01-01", "~", "null", "=", "<<")),
    ],
)
def test_text_is_the_same_and_no_template(text: str, is_template: bool) -> None:
    exported = exported_of("lookup", document("lookups", "a", {"text": text, text: 1.5}))

    [task] = tasks_of(exported)

    options = task["druidops.druid.lookup"]
    assert options == {"text": text, text: 1.5}
    assert isinstance(options["text"], Unsafe) is is_template
    assert is_exported(exported.encode())


def test_secrets_are_variables() -> None:
    properties = {"ssl.key.password": "hunter2", "sasl.jaas.config": 'x password="hunter2";', "group.id": "a"}
    spec = {"consumerProperties": properties, "url": "jdbc:mysql://u:hunter2@h/d", "args": ["--password", "hunter2"]}
    numbers = {"password": 12345, "token_count": 5}

    options = document("supervisors", "Web Visits", {**spec, "numbers": numbers})

    names = [*variables_in(options).values()]
    assert sorted(name[:-DIGEST] for name in names) == [
        "vault_web_visits_args",
        "vault_web_visits_password",
        "vault_web_visits_sasl_jaas_config",
        "vault_web_visits_ssl_key_password",
        "vault_web_visits_url",
    ]
    exported = exported_of("supervisor", options)
    assert "hunter2" not in exported
    assert "12345" not in exported
    assert "\n# Of http://a:1, https://b.\n" in exported
    [task] = tasks_of(exported)
    found = task["druidops.druid.supervisor"]
    args, password = (name for field in ("args", "password_") for name in names if f"visits_{field}" in name)
    assert found["args"] == ["--password", f"{{{{ {args} | string }}}}"]
    assert found["consumerProperties"]["group.id"] == "a"
    assert found["numbers"] == {"password": f"{{{{ {password} }}}}", "token_count": 5}


def named(*documents: Any) -> list[str]:
    return [*variables_in(documents).values()]


@pytest.mark.parametrize(
    ("kind", "identifier"), [("lookups", "a_b"), ("supervisors", "a-b")], ids=["another id", "another kind"]
)
def test_variable_has_a_name_of_its_own(kind: str, identifier: str) -> None:
    """A name is never that of another secret in another export, even if that one is not in this export."""
    first, second = (document(*each, {"password": "hunter2"}) for each in (("lookups", "a-b"), (kind, identifier)))

    names = named(first, second)

    assert names == named(first) + named(second)
    assert {name[:-DIGEST] for name in names} == {"vault_a_b_password"}
    assert len({*names}) == 2


A, B, C = ({"host": host, "password": f"hunter2{host}"} for host in "abc")
TOKEN, KEY, OTHER_KEY = (
    {"name": name, "value": value} for name, value in (("token", "1"), ("key.password", "2"), ("key.password", "3"))
)


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ([A, B, C], [C, B], {2: 0, 1: 1}),
        ([TOKEN, KEY], [KEY, {**TOKEN, "value": "4"}], {0: 1, 1: 0}),
        ([TOKEN, KEY, OTHER_KEY], [OTHER_KEY, TOKEN], {0: 1}),
        (["--password", "hunter2"], ["--token", "hunter3"], {}),
        (["--password", "hunter2", "--token", "hunter3"], ["--token", "hunter3"], {}),
        ([[A], [B]], [[B]], {}),
    ],
    ids=["content", "name", "equal names", "another flag", "fewer flags", "lists"],
)
def test_element_of_a_list_has_a_name_of_its_own(before: list[Any], after: list[Any], same: dict[int, int]) -> None:
    """The name follows the element, or is new: an index would be that of another secret."""
    first, second = (named(document("supervisors", "a", {"d": each})) for each in (before, after))

    assert {old: second.index(name) for old, name in enumerate(first) if name in second} == same
    assert len({*first}) == len(first)


@pytest.mark.parametrize("value", [[1, 2], {"type": "environment", "variable": "A"}])
def test_list_or_provider_in_an_entry_is_one_variable(value: Any) -> None:
    entry = {"name": "password", "value": value}

    found = document("supervisors", "a", [entry])

    [name] = named(found)
    assert name.startswith("vault_a_value_")
    assert found[0]["name"] == "password"


def test_names_of_things_end_no_comment() -> None:
    options = document("lookups", "a\nb: c\u2028{{", {"password": "hunter2"})

    assert re.search(r"\n#   vault_a_b_c_password_\w+\n---\n", exported_of("lookup", options))


def test_fields_are_sorted_and_repeated_values_written_in_full() -> None:
    shared = {"b": [1, {"d": 1, "c": 2}], "a": None}
    text = exported_of("lookup", document("lookups", "a", {"y": shared, "x": shared}))
    lines = ["x:", "a: null", "b:", "- 1", "- c: 2", "d: 1"]
    assert [line.strip() for line in text.splitlines()][-12:] == [*lines, "y:", *lines[1:]]


def test_changed_file_is_no_export() -> None:
    text = playbook([], ["http://a"]).encode()
    assert is_exported(text)
    for other in (b"", b"---\n", text + b"\n", text[1:], text.replace(b"Manage", b"Managed")):
        assert not is_exported(other)


def test_nulls_of_merged_documents_are_left_out() -> None:
    assert without_nulls({"a": None, "b": {"c": None}, "d": [None, {"e": None}]}) == {"b": {}, "d": [None, {"e": None}]}
