# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parses mappings, lists, numbers and booleans in strings: JSON, or YAML if PyYAML is installed. Pure.

YAML has the types of JSON, as kubectl (sigs.k8s.io/yaml, go-yaml v2) reads it. PyYAML alone reads 12:30:45 as 45045,
and timestamps as dates. kubectl reads these as strings, and y and n as booleans, which are strings for Ansible. In a
document for Druid, only true and false are booleans, as in YAML 1.2, and numbers keep their digits: no and on may be
names of columns.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Literal

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import HIDDEN, InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import TOO_DEEP

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]


Dialect = Literal["kubectl", "ansible", "druid"]


def parse_mapping(value: Any, option: str, dialect: Dialect = "druid") -> dict[str, Any]:
    """Return a mapping, which may be a JSON or YAML string. Otherwise InvalidInput names ``option``."""
    parsed = _parse(value, option, dialect) if isinstance(value, str) else value
    if not isinstance(parsed, Mapping):
        raise _not_a("mapping", option, parsed)
    return dict(parsed)


def parse_list(value: Any, option: str) -> list[Any]:
    """Return a list, which may be a JSON or YAML string. Otherwise InvalidInput names ``option``."""
    parsed = _parse(value, option, "druid") if isinstance(value, str) else value
    if not isinstance(parsed, list):
        raise _not_a("list", option, parsed)
    return parsed


_KINDS: tuple[tuple[Any, str], ...] = (
    (type(None), "null"),
    (bool, "a boolean"),
    (int | float, "a number"),
    (str, "a string"),
    (list | tuple, "a list"),
    (Mapping, "a mapping"),
    (object, "another type"),
)
_PATH = re.compile(r"[^\n{}'\"]+\.(?:json|ya?ml)(?P<template>\.j2)?")


def _not_a(kind: str, option: str, value: Any) -> InvalidInput:
    if isinstance(value, str) and (found := _PATH.fullmatch(value)):
        lookup = "template" if found["template"] else "file"
        read = f"\"{{{{ lookup('ansible.builtin.{lookup}', '{value}') }}}}\""
        return InvalidInput(option, value, f"is the path of a file. Read the file with a lookup: {read}")
    actual = next(name for types, name in _KINDS if isinstance(value, types))
    return InvalidInput(option, HIDDEN, f"must be a {kind}, or a JSON or YAML string of one, not {actual}")


def _parse(text: str, option: str, dialect: Dialect) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise InvalidInput(option, HIDDEN, TOO_DEEP) from None
    except ValueError as error:
        not_json = error
    if not has_yaml():
        remedy = f"is not JSON ({_json_problem(not_json)}), and YAML requires PyYAML on the host that runs the module"
        raise InvalidInput(option, HIDDEN, remedy)
    try:
        return load_yaml(text, dialect)
    except InvalidYaml as error:
        raise InvalidInput(option, HIDDEN, _problem(text, not_json, error)) from None


# JSON begins with a bracket and a quote, YAML in flow style with a bracket and a name without quotes.
_JSON = re.compile(r"\s*(?://[^\n]*\s*|/\*.*?\*/\s*)*[{\[]\s*(?:[\"{}\[\]]|//|/\*|$)", re.DOTALL)


def _problem(text: str, not_json: ValueError, not_yaml: InvalidYaml) -> str:
    if _JSON.match(text) and not _comment(text):
        return f"is not valid JSON: {_json_problem(not_json)}"
    return f"is neither JSON nor YAML: {not_yaml}"


def _json_problem(error: ValueError) -> str:
    """Return the problem and its position without the text, which may contain a password."""
    if isinstance(error, json.JSONDecodeError):
        problem = error.msg.removesuffix(" at").removesuffix(" starting")
        return f"{problem} in line {error.lineno}, column {error.colno}"
    return "a number has too many digits"


# Druid's integers have 64 bits. Python does not convert thousands of digits.
_WHOLE_NUMBER = re.compile(r"[0-9]{1,30}")
_BOOLEANS = {"true": True, "false": False}


def parse_whole_number(value: Any) -> Any:
    """Return the integer in a string, and any other value unchanged, for Druid to validate."""
    return int(value) if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value) else value


def parse_boolean(value: Any) -> Any:
    """Return the boolean in a string, and any other value unchanged."""
    return _BOOLEANS.get(value.lower(), value) if isinstance(value, str) else value


_TAG = "tag:yaml.org,2002:"
_NUMBER = f"{_TAG}float"
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NON_FINITE = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}
_BOOLEAN = re.compile(r"(?:yes|Yes|YES|true|True|TRUE|on|On|ON|no|No|NO|false|False|FALSE|off|Off|OFF)$")
_TRUE_OR_FALSE = re.compile(r"(?:true|True|TRUE|false|False|FALSE)$")
_LETTER = re.compile(r"[yYnN]$")
_TRUE = frozenset({"y", "yes", "true", "on"})
# The 64-bit integers, signed and unsigned. go-yaml reads larger numbers as floats.
_INTEGERS = range(-(2**63), 2**64)


class InvalidYaml(ValueError):
    """The text is not valid YAML, or has several documents. The message has problem and position, but not the text."""


def has_yaml() -> bool:
    """True if PyYAML is installed."""
    return yaml is not None


def load_yaml(text: str, dialect: Dialect = "kubectl") -> Any:
    """
    Return the only document in the text, None if there is none. Otherwise InvalidYaml.

    ``dialect``: y and n are booleans for kubectl, and strings for Ansible. For Druid, yes and no are strings as well.
    """
    documents = load_documents(text, dialect)
    if len(documents) > 1:
        raise InvalidYaml(f"it contains {len(documents)} documents, but only one is allowed; remove the others")
    return documents[0] if documents else None


def load_documents(text: str, dialect: Dialect = "kubectl") -> list[Any]:
    """Return the documents in the text that are not empty. Otherwise as ``load_yaml``."""
    if comment := _comment(text):
        raise InvalidYaml(comment)
    loader = _LOADERS[dialect](text)
    try:
        documents = []
        while loader.check_data():
            documents.append(loader.get_data())
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InvalidYaml(_yaml_problem(error)) from None
    finally:
        loader.dispose()
    return [document for document in documents if document is not None]


def yaml_number(text: str) -> int | float | str:
    """Return the number that the text represents in YAML 1.1 as go-yaml v2 reads it, or the text."""
    plain = text.replace("_", "")
    if plain.lower() in _NON_FINITE:
        return _NON_FINITE[plain.lower()]
    if _INTEGER.fullmatch(plain) and (found := _yaml_integer(plain)) in _INTEGERS:
        return found
    if not _FLOAT.fullmatch(plain) or math.isinf(value := float(plain)):
        return text
    return int(value) if value.is_integer() else value


def _yaml_integer(plain: str) -> int:
    sign, digits = (-1 if plain.startswith("-") else 1), plain.lstrip("+-").lower()
    bases = {"0x": 16, "0o": 8, "0b": 2}
    base = bases.get(digits[:2], 8 if digits.startswith("0") else 10)
    return sign * int(digits[2:] if digits[:2] in bases else digits, base)


_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
_COMMENT = re.compile(r"(?:^|[\s,{}\[\]\"])(//|/\*)")


def _comment(text: str) -> str:
    """Return the problem of a comment in a JSON document, outside of its strings; empty if there is none.

    YAML reads it as a part of the next key.
    """
    begun = _COMMENT.search(_STRING.sub('""', text)) if _JSON.match(text) else None
    if begun is None:
        return ""
    line = begun.string.count("\n", 0, begun.start(1)) + 1
    return f"a comment begins with {begun[1]} in line {line}; JSON has no comments, and those of YAML begin with #"


def _yaml_problem(error: Exception) -> str:
    """Return the problem and its position without the text, which may contain a password."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    mark = getattr(error, "problem_mark", None)
    where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return f"{getattr(error, 'problem', None) or 'not readable'}{where}"


if yaml is not None:

    def _is_merge(pair: tuple[Any, Any]) -> bool:
        return bool(pair[0].tag == f"{_TAG}merge")

    def _mappings(node: Any) -> list[Any]:
        """Return the mappings that are merged in, of which the first has precedence."""
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for each in nodes:
            if not isinstance(each, yaml.MappingNode):
                raise yaml.constructor.ConstructorError(None, None, "this must be a mapping", each.start_mark)
        return list(nodes)

    class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """Rejects duplicate keys in mappings. Keys are strings, as in JSON."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[str, Any]:
            """Return the mapping. Its own values override those that are merged in."""
            if not isinstance(node, yaml.MappingNode):
                raise yaml.constructor.ConstructorError(None, None, "this must be a mapping", node.start_mark)
            return {name: self.construct_object(value, deep=deep) for name, value in self._values(node).items()}

        def _values(self, node: Any) -> dict[str, Any]:
            """Return the nodes of the values by name. PyYAML merges differently since 6.0.4."""
            known = self.__dict__.setdefault("values", {})
            if node not in known:
                self._reject_duplicate_keys(node)
                merged: dict[str, Any] = {}
                for _key, value in filter(_is_merge, node.value):
                    for each in reversed(_mappings(value)):
                        merged.update(self._values(each))
                known[node] = merged | {self._name(pair[0]): pair[1] for pair in node.value if not _is_merge(pair)}
            return known[node]

        def _reject_duplicate_keys(self, node: Any) -> None:
            seen = set()
            for pair in node.value:
                name = "<<" if _is_merge(pair) else self._name(pair[0])
                if name in seen:
                    raise yaml.constructor.ConstructorError(None, None, f"duplicate key {name}", pair[0].start_mark)
                seen.add(name)

        def _name(self, key: Any) -> str:
            value = self.construct_object(key, deep=True)
            if isinstance(value, bool):
                return "true" if value else "false"
            if not isinstance(value, str | int | float):
                problem = "a key must be a string"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            return str(value)

    def _boolean(loader: Any, node: Any) -> bool:
        return str(loader.construct_scalar(node)).lower() in _TRUE

    def _number(loader: Any, node: Any) -> int | float | str:
        return yaml_number(str(loader.construct_scalar(node)))

    class _LoaderOfAnsible(_Loader):
        """Reads the booleans that Ansible reads."""

    class _LoaderOfDruid(_Loader):
        """Reads true and false as booleans, and numbers with all of their digits."""

    def _digits(loader: Any, node: Any) -> int | float | str:
        text = str(loader.construct_scalar(node))
        plain = text.replace("_", "")
        if _INTEGER.fullmatch(plain):
            return _yaml_integer(plain)
        value = yaml_number(text)
        return float(value) if isinstance(value, int) else value

    def _resolvers(booleans: re.Pattern[str] = _BOOLEAN) -> dict[str, list[tuple[str, re.Pattern[str]]]]:
        kept = {
            first: [(tag, pattern) for tag, pattern in found if tag in (f"{_TAG}null", f"{_TAG}merge")]
            for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }
        for first in "yYnNtTfFoO":
            kept[first] = [(f"{_TAG}bool", booleans), *kept.get(first, [])]
        for first in "+-.0123456789":
            kept[first] = [(_NUMBER, re.compile(r"[-+.0-9]")), *kept.get(first, [])]
        return kept

    def _resolvers_of_letters() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
        found = _resolvers()
        return {**found, **{first: [(f"{_TAG}bool", _LETTER), *found[first]] for first in "yYnN"}}

    _LoaderOfAnsible.yaml_implicit_resolvers = _resolvers()
    _Loader.yaml_implicit_resolvers = _resolvers_of_letters()
    _Loader.add_constructor(f"{_TAG}bool", _boolean)
    _Loader.add_constructor(_NUMBER, _number)
    _Loader.add_constructor(f"{_TAG}int", _number)
    _LoaderOfDruid.yaml_implicit_resolvers = _resolvers(_TRUE_OR_FALSE)
    _LoaderOfDruid.add_constructor(_NUMBER, _digits)
    _LOADERS = {"kubectl": _Loader, "ansible": _LoaderOfAnsible, "druid": _LoaderOfDruid}
