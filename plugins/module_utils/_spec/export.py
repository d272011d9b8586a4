# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
A playbook of what a Druid has, with variables in place of secrets. Pure.

No text of Druid becomes a template, a comment or a name of Ansible: what looks like a template has the tag ``!unsafe``,
and the names of variables consist of letters, digits and underscores.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]

_HEADER = "# By druidops.druid.export, which replaces this file if it is unchanged. SHA-256 of the other lines: "
# What Jinja reads as a template, or Ansible as a header of one.
_TEMPLATE = re.compile(r"\{[{%#]|\A#jinja2:")
# What YAML reads as a line break, and turns into a space. PyYAML escapes it only between double quotes.
_LINE_BREAK = re.compile("[\x85\u2028\u2029]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Task(NamedTuple):
    """A task of the playbook: its name, the module, and the options."""

    name: str
    module: str
    options: Mapping[str, Any]


class Variable(NamedTuple):
    """A variable in place of a secret: what it is of (kind, name of the thing), and the path in its document.

    ``identity``: the path, with what identifies the elements of lists in place of their indexes.
    ``is_text``: the secret is a text, which Ansible 2.18 reads as JSON or a boolean if it looks like one.
    """

    kind: str
    id: str
    path: Path
    identity: Path = ()
    is_text: bool = False


def has_yaml() -> bool:
    """True if PyYAML is installed."""
    return yaml is not None


def without_nulls(document: Any) -> Any:
    """Return a document that is merged into the current one without fields that are null, except inside of lists."""
    if not isinstance(document, Mapping):
        return document
    return {name: without_nulls(value) for name, value in document.items() if value is not None}


def with_variables(value: Any, shown: Any, place: Variable) -> Any:
    """Return a document with sorted fields, and a Variable in place of each value that is or contains a secret.

    ``shown``: the document with secrets masked. ``place``: where the document is.
    """
    if isinstance(value, Mapping) and isinstance(shown, Mapping):
        return {name: with_variables(value[name], shown[name], _below(place, name, name)) for name in sorted(value)}
    if isinstance(value, list) and isinstance(shown, list):
        return [
            with_variables(each, other, _below(place, str(index), identity))
            for index, (each, other, identity) in enumerate(zip(value, shown, _identities(shown), strict=True))
        ]
    return value if value == shown else place._replace(is_text=isinstance(value, str))


def _below(place: Variable, name: str, identity: str) -> Variable:
    return place._replace(path=(*place.path, name), identity=(*place.identity, identity))


def _identities(shown: list[Any]) -> list[str]:
    """Return what identifies each element of a list: its name or its content, if only one mapping has it.

    Otherwise it is its index in this list. If the list changes, it is identified differently, not like another one.
    """
    own = [_text(_identifying(each)) if isinstance(each, Mapping) else "" for each in shown]
    number, all_of_them = Counter(own), _digest(shown)
    return [text if text and number[text] == 1 else f"{index} of {all_of_them}" for index, text in enumerate(own)]


def _identifying(element: Mapping[str, Any]) -> Any:
    return element["name"] if isinstance(element.get("name"), str) else element


def variables_in(value: Any) -> dict[Variable, str]:
    """Return the variables in tasks, in their order, with their names.

    A name has the thing, the field, and always a digest of the place. So it never becomes the name of another secret:
    not in a later export, and not in one of other kinds that has the same file of secrets.
    """
    return {each: f"{_name(each)}_{_digest([each.kind, each.id, each.identity])}" for each in _variables(value)}


def _variables(value: Any) -> list[Variable]:
    if isinstance(value, Variable):
        return [value]
    if isinstance(value, Mapping):
        return [found for each in value.values() for found in _variables(each)]
    return [found for each in value for found in _variables(each)] if isinstance(value, list | tuple) else []


def _name(variable: Variable) -> str:
    field = next((name for name in reversed(variable.path) if not name.isdigit()), "")
    words = re.split(r"[^a-z0-9]+", _HUMP.sub("_", f"vault_{variable.id}_{field}").lower())
    return "_".join(filter(None, words))


def _digest(value: Any) -> str:
    return hashlib.sha256(_text(value).encode()).hexdigest()[:16]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def playbook(tasks: list[Task], urls: Iterable[str]) -> str:
    """Return the playbook of the Druid with these URLs. Its first line has the digest of the others."""
    names = variables_in([task.options for task in tasks])
    play = {
        "name": "Manage what Druid has",
        "hosts": "localhost",
        "gather_facts": False,
        "tasks": [{"name": task.name, f"druidops.druid.{task.module}": task.options} for task in tasks],
    }
    lines = [f"# Of {', '.join(urls)}.", "# The connection is in environment variables, such as DRUID_URL."]
    if names:
        lines += ["# Secrets are variables, such as in a file that ansible-vault encrypts."]
        lines += ["# There, a secret that contains {{ needs the tag !unsafe. The variables:"]
        lines += [f"#   {name}" for name in names.values()]
    body = "\n".join([*lines, "---", _yaml([play], names)])
    return f"{_HEADER}{_digest_of(body)}\n{body}"


def is_exported(text: bytes) -> bool:
    """Return whether a file is a playbook of this module, and was not changed since."""
    first, _end, body = text.partition(b"\n")
    return first == f"{_HEADER}{hashlib.sha256(body).hexdigest()}".encode()


def _digest_of(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def _yaml(document: Any, names: Mapping[Variable, str]) -> str:
    """Return the document in block style, without aliases; a line is as long as its text."""

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
            super().increase_indent(flow, False)

        def represent_text(self, text: str) -> Any:
            tag = "!unsafe" if _TEMPLATE.search(text) else "tag:yaml.org,2002:str"
            return self.represent_scalar(tag, text, style='"' if _LINE_BREAK.search(text) else None)

        def represent_variable(self, variable: Variable) -> Any:
            return self.represent_str(f"{{{{ {names[variable]}{' | string' if variable.is_text else ''} }}}}")

    Dumper.add_representer(str, Dumper.represent_text)
    Dumper.add_representer(Variable, Dumper.represent_variable)
    text: str = yaml.dump(
        document, Dumper=Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=float("inf")
    )
    return text
