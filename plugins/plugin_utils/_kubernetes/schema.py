# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prune, default and validate a spec by a structural schema, like the API server.

It is for clusters without a resource, whose spec never reaches an API server. Values of the wrong scalar type from
Ansible's templating are converted first. Rules (CEL) are not evaluated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import MAX_LEVELS, TOO_DEEP
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import DRUID_OBJECTS, object_of
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import INVALID_QUANTITY, QUANTITY_REMEDY

Schema = Mapping[str, Any]

_KINDS = Path(__file__).parents[1]
_FILES = {
    "Druid": _KINDS / "_cluster" / "schema.json",
    "DruidIngestion": _KINDS / "_ingestion" / "schema.json",
    "Collector": _KINDS / "_collector" / "schema.json",
    **{kind: _KINDS / "_druid_object" / f"{object_of(kind)}.json" for kind in DRUID_OBJECTS},
}

# Path elements: list index, map key.
_INDEX = re.compile(r"\[[0-9]+\]\.?")
_KEY = re.compile(r"[^.\[]+\.?")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off"})
# What only one pattern of our schemas matches, and what to say instead of that pattern.
_REASONS: Mapping[str, str] = {
    "1Gi": f"{INVALID_QUANTITY}: {QUANTITY_REMEDY}",
    "1h30m": "is not a valid duration: use numbers with the units s, m or h, without spaces (90s, 1h30m)",
}
_WITHOUT_SECRETS = frozenset({"integer", "number", "boolean"})
_INT_OR_STRING = ("integer", "string")


@dataclass(frozen=True)
class SchemaError:
    """A schema violation, with the API server's message where that helps the user."""

    path: str
    kind: str
    detail: str = ""

    def __str__(self) -> str:
        return ": ".join(part for part in (self.path, self.kind, self.detail) if part)


@dataclass(frozen=True)
class ValidationResult:
    """The value as the API server would store it, the errors, and the paths of unknown fields."""

    value: Any
    errors: tuple[SchemaError, ...]
    pruned: tuple[str, ...]


@cache
def spec_of(kind: str) -> Schema:
    """The schema of the spec of a kind, the same as in its CRD."""
    schema: Schema = json.loads(_FILES[kind].read_text(encoding="utf-8"))
    return schema


def apply(schema: Schema, value: Any, path: str = "spec") -> ValidationResult:
    """Return the value converted, pruned, defaulted and validated; the input is not modified."""
    if value is None:
        return ValidationResult(None, (SchemaError(path, "Required value"),), ())
    walk = _Walk([], [])
    applied = walk.value(schema, value, path)
    return ValidationResult(applied, tuple(walk.errors), tuple(walk.pruned))


def nearest_field(schema: Schema, path: str) -> str | None:
    """Return the known field in the same mapping with the name most similar to the unknown one.

    `path` leads to the unknown field from the value of this schema, as `nodes.brokers.env[0].vale` does from the spec.
    """
    index = _INDEX.match(path)
    if index:
        return nearest_field(schema.get("items", {}), path[index.end() :])
    fields: Mapping[str, Schema] = schema.get("properties", {})
    # A name may contain dots, such as common.runtime.properties: the longest match counts.
    known = max((name for name in fields if re.match(rf"{re.escape(name)}[.\[]", path)), key=len, default=None)
    if known is not None:
        return nearest_field(fields[known], path[len(known) :].removeprefix("."))
    if "additionalProperties" in schema:
        inside = _KEY.sub("", path, count=1)
        return nearest_field(schema["additionalProperties"], inside) if inside else None
    return next(iter(get_close_matches(path, fields, n=1)), None)


def schema_errors(schema: Schema, value: Any, path: str = "spec", levels: int = MAX_LEVELS) -> Iterator[SchemaError]:
    """Yield type errors and missing fields of a stored value.

    A resource may have been stored under another version of the schema, and its readers rely on the types. Null counts
    as missing, except for an entry of a map of objects.
    """
    expected, actual = _expected_types(schema), _type(value)
    if expected and actual not in expected:
        yield _mistyped(expected, value, path)
    elif actual in ("object", "array") and not levels:
        yield SchemaError(path, TOO_DEEP)
    elif actual == "object":
        yield from _field_errors(schema, value, path, levels - 1)
    elif actual == "array":
        for index, item in enumerate(value):
            yield from schema_errors(schema.get("items", {}), item, f"{path}[{index}]", levels - 1)


def _field_errors(schema: Schema, value: Mapping[str, Any], path: str, levels: int) -> Iterator[SchemaError]:
    for name in schema.get("required", ()):
        if value.get(name) is None:
            yield SchemaError(f"{path}.{name}", "Required value")
    fields, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    for name, inside in value.items():
        field = fields.get(name, others)
        if inside is not None or (name not in fields and field.get("type") == "object"):
            yield from schema_errors(field, inside, f"{path}.{name}", levels)


@dataclass(frozen=True)
class _Walk:
    """One traversal of a value, with its errors and pruned fields."""

    errors: list[SchemaError]
    pruned: list[str]

    def value(self, schema: Schema, value: Any, path: str) -> Any:
        coerced = _coerced(schema, value)
        expected, actual = _expected_types(schema), _type(coerced)
        if expected and actual not in expected:
            self.errors.append(_mistyped(expected, coerced, path))
            return coerced
        if actual == "object":
            return self._object(schema, coerced, path)
        if actual == "array":
            return self._array(schema, coerced, path)
        self.errors.extend(_violations(schema, coerced, path))
        return coerced

    def _object(self, schema: Schema, value: Mapping[Any, Any], path: str) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, inside in ((_text(key), inside) for key, inside in value.items()):
            self._entry(schema, result, key, inside, f"{path}.{key}")
        for name, field in schema.get("properties", {}).items():
            if name not in result and "default" in field:
                result[name] = deepcopy(field["default"])
        for name in schema.get("required", ()):
            if name not in result:
                self.errors.append(SchemaError(f"{path}.{name}", "Required value", _of_former_version(name, value)))
        self._count(schema.get("maxProperties"), result, path)
        return result

    def _entry(self, schema: Schema, result: dict[str, Any], key: str, value: Any, path: str) -> None:
        field = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
        if field is None:
            self._unknown(schema, result, key, value, path)
        elif value is not None or field.get("nullable"):
            result[key] = self.value(field, value, path)

    def _unknown(self, schema: Schema, result: dict[str, Any], key: str, value: Any, path: str) -> None:
        if schema.get("x-kubernetes-preserve-unknown-fields"):
            result[key] = _plain(value)
        else:
            self.pruned.append(path)

    def _array(self, schema: Schema, value: list[Any], path: str) -> list[Any]:
        self._count(schema.get("maxItems"), value, path)
        items = schema.get("items", {})
        return [self.value(items, item, f"{path}[{index}]") for index, item in enumerate(value)]

    def _count(self, most: int | None, value: list[Any] | dict[str, Any], path: str) -> None:
        if most is not None and len(value) > most:
            self.errors.append(SchemaError(path, "Too many", f"{len(value)}: must have at most {most} items"))


# Fields of an autoscaler's metric in autoscaling/v2beta1: those of its target in autoscaling/v2.
_TARGETS: Mapping[str, tuple[str, str]] = {
    "targetAverageUtilization": ("Utilization", "averageUtilization"),
    "targetAverageValue": ("AverageValue", "averageValue"),
    "targetValue": ("Value", "value"),
}


def _of_former_version(missing: str, value: Mapping[Any, Any]) -> str:
    """Return the form in autoscaling/v2 of a metric whose target is that of v2beta1; otherwise nothing."""
    former = next((name for name in _TARGETS if name in value), None) if missing == "target" else None
    if former is None:
        return ""
    kind, field = _TARGETS[former]
    return f"{former} is of autoscaling/v2beta1; replace it with target: {{type: {kind}, {field}: {value[former]}}}"


_WORDS: Mapping[str, str] = {
    "object": "a mapping",
    "array": "a list",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
}


def _mistyped(expected: tuple[str, ...], value: Any, path: str) -> SchemaError:
    """Return a type error, with the value where the API server shows only its type.

    The value is shown only if a number or boolean is expected: anywhere else it may be a secret.
    """
    actual = _type(value)
    is_shown = _WITHOUT_SECRETS.issuperset(expected) and isinstance(value, str | int | float)
    shown = f"{json.dumps(value, ensure_ascii=False)}: " if is_shown and not _may_have_credentials(value) else ""
    words = " or ".join(_WORDS.get(each, each) for each in expected)
    return SchemaError(path, "Invalid value", f"{shown}must be {words}, not {_WORDS.get(actual, actual)}")


def _may_have_credentials(value: Any) -> bool:
    """True for a text that may be an address with a password, such as that of a Druid."""
    return isinstance(value, str) and "@" in value


def _violations(schema: Schema, value: Any, path: str) -> Iterator[SchemaError]:
    """Yield the violations of a scalar of the right type."""
    shown = json.dumps("string" if _may_have_credentials(value) else value, ensure_ascii=False)
    if "enum" in schema and value not in schema["enum"]:
        supported = ", ".join(json.dumps(each) for each in schema["enum"])
        yield SchemaError(path, "Unsupported value", f"{shown}: supported values: {supported}")
    if isinstance(value, str):
        yield from _text_violations(schema, value, path, shown)
    elif not isinstance(value, bool) and value is not None:
        yield from _number_violations(schema, value, path, shown)


def _text_violations(schema: Schema, value: str, path: str, shown: str) -> Iterator[SchemaError]:
    if len(value) > schema.get("maxLength", len(value)):
        yield SchemaError(path, "Too long", f"may not be more than {schema['maxLength']} bytes")
    if len(value) < schema.get("minLength", 0):
        yield _invalid(path, shown, f"should be at least {schema['minLength']} chars long")
    if "pattern" in schema and not re.search(_anchored(schema["pattern"]), value):
        reasons = (reason for example, reason in _REASONS.items() if re.search(schema["pattern"], example))
        yield _invalid(path, shown, next(reasons, f"should match '{schema['pattern']}'"))


def _number_violations(schema: Schema, value: float, path: str, shown: str) -> Iterator[SchemaError]:
    if value < schema.get("minimum", value):
        yield _invalid(path, shown, f"should be greater than or equal to {schema['minimum']}")
    if value > schema.get("maximum", value):
        yield _invalid(path, shown, f"should be less than or equal to {schema['maximum']}")


def _invalid(path: str, shown: str, reason: str) -> SchemaError:
    return SchemaError(path, "Invalid value", f"{shown}: {path} in body {reason}")


def _anchored(pattern: str) -> str:
    """Return the pattern in Go's semantics: $ does not match before a trailing line break."""
    return pattern[:-1] + r"\Z" if pattern.endswith("$") and not pattern.endswith(r"\$") else pattern


def _expected_types(schema: Schema) -> tuple[str, ...]:
    if schema.get("x-kubernetes-int-or-string"):
        return _INT_OR_STRING
    return (schema["type"],) if "type" in schema else ()


def _type(value: Any) -> str:
    """The JSON type of a value, as the API server calls it."""
    if isinstance(value, Mapping):
        return "object"
    names = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list | tuple, "array"))
    return next((name for kind, name in names if isinstance(value, kind)), "null")


def _coerced(schema: Schema, value: Any) -> Any:
    """Return the value converted to the expected type if that is lossless; else unchanged."""
    if isinstance(value, Mapping | list | tuple):
        return value
    expected = "int-or-string" if schema.get("x-kubernetes-int-or-string") else schema.get("type")
    return _COERCIONS.get(str(expected), _same)(_plain(value))


def _same(value: Any) -> Any:
    return value


def _to_integer(value: Any) -> Any:
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _to_boolean(value: Any) -> Any:
    word = value.strip().lower() if isinstance(value, str) else None
    return True if word in _TRUE else False if word in _FALSE else value


def _to_string(value: Any) -> Any:
    return _text(value) if isinstance(value, bool | int | float) else value


def _to_int_or_string(value: Any) -> Any:
    return _text(value) if isinstance(value, float) else value


_COERCIONS: Mapping[str, Callable[[Any], Any]] = {
    "integer": _to_integer,
    "boolean": _to_boolean,
    "string": _to_string,
    "int-or-string": _to_int_or_string,
}


def _plain(value: Any) -> Any:
    """Return a copy with JSON types only: Ansible tags strings, and YAML has dates."""
    if isinstance(value, Mapping):
        return {_text(key): _plain(inside) for key, inside in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str | date):
        return _text(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value) if isinstance(value, int) else float(value)
    return value


def _text(value: Any) -> str:
    """Return the string that YAML or JSON uses for a scalar."""
    if isinstance(value, str):
        return str.__str__(value)
    return value.isoformat() if isinstance(value, date) else json.dumps(value)
