# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
Finds the field that Druid rejects: its message names a Java type and the value, and only sometimes the field. Pure.

The messages are those of Jackson, the same in Druid 27 to 33.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._values.text import nearest

MAX_FIELDS = 3
# in a hint: those of rules, and not the many of a filter or an input format
MAX_TYPES = 12
# The only document that is a list, by the name of its option.
_RULES = "rules"
# The fields of specifications that are lists or mappings; all others are taken for scalars.
_LISTS = frozenset(
    {
        *("dimensions", "dimensionExclusions", "spatialDimensions", "dims", "metricsSpec", "metrics", "projections"),
        *("transforms", "fields", "columns", "expressions", "intervals", "partitionDimensions", "groupingColumns"),
        *("uris", "prefixes", "objects", "files", "delegates", "values", "aggregators", "httpAuthenticationHeaders"),
    }
)
_MAPPINGS = frozenset(
    {
        *("spec", "dataSchema", "ioConfig", "tuningConfig", "timestampSpec", "dimensionsSpec", "granularitySpec"),
        *("transformSpec", "inputFormat", "inputSource", "flattenSpec", "indexSpec", "partitionsSpec", "parser"),
        *("indexSpecForIntermediatePersists", "consumerProperties", "autoScalerConfig", "context", "taskContext"),
        *("filter", "field", "bitmap", "keyFormat", "valueFormat", "headerFormat", "parseSpec", "splitHintSpec"),
        *("tieredReplicants", "aggregator", "properties", "requestHeaders", "dimensionSchema", "idleConfig"),
        *("appendableIndexSpec", "segmentWriteOutMediumFactory", "query", "selectStrategy", "affinityConfig"),
        *("affinity", "extensions", "taskLimits", "engine"),
    }
)


class Field(NamedTuple):
    """A field of a document: ``spec.ioConfig.taskCount``, ``taskCount``, and its value."""

    path: str
    name: str
    value: Any

    @property
    def is_element(self) -> bool:
        """Whether it is an element of a list, which has the name of the list."""
        return self.path.endswith("]")


def hint_of_rejected(document: Any, message: str) -> str:
    """Return the fields of the document that Druid's message is about, and a remedy; empty if they are not found."""
    root = _RULES if isinstance(document, list) else ""
    fields = list(_fields(document, root, root))
    if found := _TYPE_ID.search(message):
        return _hint_of_type(fields, found["id"], found["known"].split(", "))
    if found := _NO_TYPE.search(message):
        return _hint_of_missing_type(fields, found["name"] or root, found["kind"])
    if found := _MISSING.search(message):
        return _hint_of_missing(fields, found)
    found_fields = _candidates(fields, message, root)
    return _listed("Check the field", list(dict.fromkeys(field.path for field in found_fields)))


def _has_type(field: Field) -> bool:
    return isinstance(field.value, Mapping) and "type" in field.value


def _fields(value: Any, path: str, name: str) -> Iterator[Field]:
    if isinstance(value, Mapping):
        children = [(f"{path}.{key}" if path else str(key), str(key), child) for key, child in value.items()]
    else:
        # an element of a list has the name of the list
        elements = value if isinstance(value, list) else ()
        children = [(f"{path}[{index}]", name, child) for index, child in enumerate(elements)]
    for below, key, child in children:
        yield Field(below, key, child)
        yield from _fields(child, below, key)


_TYPE_ID = re.compile(r"Could not resolve type id '(?P<id>[^']*)'.* known type ids = \[(?P<known>[^]]*)\]", re.DOTALL)
_NO_TYPE = re.compile(
    r"class [\w.$]*?(?P<kind>\w+)\]: missing type id property 'type'(?: \(for POJO property '(?P<name>\w+)'\))?"
)
# Abstract classes of which Druid itself has no type.
_OF_EXTENSIONS = frozenset({"KafkaConfigOverrides"})
_ONLY_OF_EXTENSIONS = "Druid itself has no type for it, only an extension can have one"
# Without a value, Druid's class names the field (a precondition), or the entry of its mapping.
_MISSING = re.compile(
    r"`[\w.$]*?(?P<parent>\w+)`, problem: (?P<name>[a-z]\w*)(?: must contain entry for \[(?P<entry>[\w.]+)\])?(?: \(|$)"
)


def _hint_of_type(fields: list[Field], kind: str, known: list[str]) -> str:
    where = _listed("Check the field", [field.path for field in fields if field.name == "type" and field.value == kind])
    return ". ".join([*([where] if where else []), _remedy_of_type(kind, [name for name in known if name])])


def _remedy_of_type(kind: str, known: list[str]) -> str:
    if guess := nearest(kind, known):
        return f"Did you mean {guess!r}?"
    if not known:
        return f"{_ONLY_OF_EXTENSIONS}. Load the extension in Druid, or remove the field"
    extension = "If it is a type of an extension, load the extension in Druid"
    return f"The types are {', '.join(known)}. {extension}" if len(known) <= MAX_TYPES else extension


def _hint_of_missing_type(fields: list[Field], name: str, kind: str) -> str:
    without_type = (each for each in fields if each.name == name and not _has_type(each))
    paths = [each.path for each in without_type if not isinstance(each.value, list)]
    if kind in _OF_EXTENSIONS:
        return f"{_listed('Remove the field', paths)}. {_ONLY_OF_EXTENSIONS}" if paths else _ONLY_OF_EXTENSIONS
    return _listed("Set the field", [f"{path}.type" for path in paths])


def _hint_of_missing(fields: list[Field], found: re.Match[str]) -> str:
    parents = [each.path for each in fields if found["parent"].lower().endswith(each.name.lower())]
    names = ".".join(part for part in (found["name"], found["entry"]) if part)
    return _listed("Set the field", [f"{path}.{names}" for path in parents if not path.endswith("]")])


_CHAIN = re.compile(r"\(through reference chain: (?P<chain>.*)\)", re.DOTALL)
_LINK = re.compile(r"\[(?:\"(?P<name>[^\"]*)\"|(?P<index>\d+))\]")
_PROPERTY = re.compile(r"\(for POJO property '(?P<name>\w+)'\)")
# (pattern, whether a value is the one that the message quotes)
_QUOTED: tuple[tuple[re.Pattern[str], Callable[[Any, str], bool]], ...] = (
    (
        re.compile(r"from String (?:value \('|\")(?P<value>.*?)(?:'\)|\"(?::|$))", re.DOTALL),
        lambda value, text: value == text,
    ),
    (
        re.compile(r"Invalid (?:format: \"|interval\[)(?P<value>.*?)[\"\]]", re.DOTALL),
        lambda value, text: value == text,
    ),
    (
        re.compile(r"from (?:Number|Floating-point|Integer) value \((?!token)(?P<value>[^)]*)\)"),
        lambda value, text: str(value) == text,
    ),
    (
        re.compile(r"from boolean value \((?P<value>true|false)\)"),
        lambda value, text: isinstance(value, bool) and str(value).lower() == text,
    ),
    (re.compile(r"No enum constant [\w.$]+\.(?P<value>\w+)"), lambda value, text: str(value).upper() == text.upper()),
)
_TOKEN = re.compile(r"of type `(?P<type>[^`]*)` from (?P<kind>[\w-]+) value \(token")
_KINDS: Mapping[str, type] = {
    "Array": list,
    "Object": dict,
    "String": str,
    "Integer": int,
    "Floating-point": float,
    "Boolean": bool,
}
_NULL_ELEMENT = re.compile(r"Cannot invoke \".*\" because \".*\" is null")
_CLASS = re.compile(r"`(?:[\w.]+[.$])?(?P<name>\w+)`")


def _candidates(fields: list[Field], message: str, root: str) -> list[Field]:
    if found := _CHAIN.search(message):
        links = _LINK.finditer(found["chain"])
        path = "".join(f".{link['name']}" if link["name"] is not None else f"[{link['index']}]" for link in links)
        return [field for field in fields if field.path == f"{root}{path}".removeprefix(".")]
    if found := _PROPERTY.search(message):
        return [field for field in fields if field.name == found["name"]]
    for pattern, is_quoted in _QUOTED:
        if found := pattern.search(message):
            return _of_class([field for field in fields if is_quoted(field.value, found["value"])], message)
    if _NULL_ELEMENT.search(message):
        return [field for field in fields if field.value is None and field.is_element]
    found = _TOKEN.search(message)
    return _of_wrong_kind(fields, found["type"], _KINDS.get(found["kind"], type(None))) if found else []


def _of_class(fields: list[Field], message: str) -> list[Field]:
    """Return the fields that are named after the Java class in the message, all fields if there are none."""
    found = _CLASS.search(message)
    name = found["name"].lower() if found else ""
    named = [field for field in fields if name and field.name.lower().endswith(name)]
    # a class that has no creator for a boolean is not that of a flag
    return named or [field for field in fields if not isinstance(field.value, bool) or _usual_kind(field) is not str]


def _is_of(value: object, kind: type) -> bool:
    """Return whether JSON calls a value that: true is not a number."""
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _of_wrong_kind(fields: list[Field], java_type: str, kind: type) -> list[Field]:
    """Return the fields that have this kind of value although another kind is usual."""
    expects_list = bool(re.match(r"(?:[\w.]+\.)?(?:\w*List|\w*Set|Collection)\b", java_type)) or java_type.endswith(
        "[]"
    )
    found = [each for each in fields if _is_of(each.value, kind) and (kind is list or not each.is_element)]
    if expects_list:
        return [field for field in found if field.name in _LISTS and not field.is_element]
    if kind in (bool, int, float):
        if re.match(r"[\w.]*Map\b", java_type):
            return [field for field in found if _usual_kind(field) is dict]
        # others are as they should be, unless there is only this one
        return found if len(found) == 1 else []
    return [field for field in found if not issubclass(kind, _usual_kind(field))]


def _usual_kind(field: Field) -> type:
    if field.name in _LISTS:
        return dict if field.is_element else list
    return dict if field.name in _MAPPINGS else str


def _listed(verb: str, paths: list[str]) -> str:
    if not paths or len(paths) > MAX_FIELDS:
        return ""
    return f"{verb} {paths[0]}" if len(paths) == 1 else f"{verb}s {', '.join(paths[:-1])} and {paths[-1]}"
