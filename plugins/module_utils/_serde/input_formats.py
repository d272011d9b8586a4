# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Input formats (``data.input.impl``, ``data.input.kafkainput``, ``java.util.common.parsers``). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.druid_class import (
    DruidClass,
    Json,
    Kind,
    of_kind,
    omits,
)
from ansible_collections.druidops.druid.plugins.module_utils._serde.forms import is_true


def _with_header(value: Json) -> Json:
    """Return an input format with the old name of ``findColumnsFromHeader``, which columns override, replaced.

    GET has another name for ``tryParseNumbers``, which POST ignores.
    """
    found = {name: each for name, each in value.items() if name not in ("hasHeaderRow", "shouldTryParseNumbers")}
    if value.get("hasHeaderRow") is not None and found.get("findColumnsFromHeader") is None:
        found["findColumnsFromHeader"] = is_true(value["hasHeaderRow"]) and not value.get("columns")
    if "shouldTryParseNumbers" in value:
        found.setdefault("tryParseNumbers", value["shouldTryParseNumbers"])
    return found


def _with_expression(value: Json) -> Json:
    """Return a field of a ``flattenSpec``. The expression of a root field is its name unless it is specified."""
    kind = value.get("type")
    is_bare = kind == "root" and value.get("expr") is None and "name" in value
    return {**value, "expr": value["name"]} if is_bare else value


_FLAT_TEXT = DruidClass(
    "data.input.impl.FlatTextInputFormat",
    {
        "columns": omits([]),
        "findColumnsFromHeader": omits(False),
        "skipHeaderRows": omits(0),
        "tryParseNumbers": omits(False),
    },
    _with_header,
)
_FLATTEN_TYPES = ("root", "path", "jq", "tree")


def _root(name: str) -> Any:
    return {"type": "root", "name": name, "expr": name}


KINDS: Mapping[str, Kind] = {
    "inputFormat": Kind(
        {
            "csv": _FLAT_TEXT,
            "tsv": _FLAT_TEXT,
            "json": DruidClass(
                "data.input.impl.JsonInputFormat",
                {
                    "flattenSpec": of_kind("flattenSpec"),
                    "featureSpec": omits({}),
                    "assumeNewlineDelimited": omits(False),
                    "useJsonNodeReader": omits(False),
                },
            ),
            "kafka": DruidClass(
                "data.input.kafkainput.KafkaInputFormat",
                {
                    "keyFormat": of_kind("inputFormat"),
                    "valueFormat": of_kind("inputFormat"),
                },
            ),
            # those of extensions: Avro, Protobuf, ORC, Parquet
            "": DruidClass("data.input.impl.NestedInputFormat", {"flattenSpec": of_kind("flattenSpec")}),
        }
    ),
    "flattenSpec": Kind(
        {
            "": DruidClass(
                "java.util.common.parsers.JSONPathSpec",
                {"fields": of_kind("flattenField")},
            )
        }
    ),
    "flattenField": Kind(
        {"": DruidClass("java.util.common.parsers.JSONPathFieldSpec", shape=_with_expression)},
        types={name.upper(): name for name in _FLATTEN_TYPES} | {name.capitalize(): name for name in _FLATTEN_TYPES},
        from_text=_root,
    ),
}
