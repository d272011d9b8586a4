# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A type that Druid reads as another one, and a field that it ignores, are no difference: a warning reports them."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._serde.data_schema import DIMENSION_TYPES, READ_AS_STRING
from ansible_collections.druidops.druid.plugins.module_utils._serde.misread import misread


def _supervisor(*dimensions: Any) -> dict[str, Any]:
    return {"type": "kafka", "spec": {"dataSchema": {"dimensionsSpec": {"dimensions": [*dimensions]}}}}


@pytest.mark.parametrize("name", READ_AS_STRING)
def test_names_the_field_and_the_type(name: str) -> None:
    assert list(misread("supervisor", _supervisor("a", {"type": name, "name": "b"}))) == [
        f"Druid does not know type {name} of spec.dataSchema.dimensionsSpec.dimensions[1], and reads it as string. "
        "Use a type that it knows."
    ]


@pytest.mark.parametrize("name", [*DIMENSION_TYPES, "of-an-extension", 5, None])
def test_other_types_are_left_to_druid(name: Any) -> None:
    assert list(misread("supervisor", _supervisor({"type": name, "name": "b"}))) == []


@pytest.mark.parametrize("document", [None, 5, "x", [], {"spec": 1}, {"type": "kafka", "spec": {"dataSchema": []}}])
def test_invalid_documents_are_left_to_druid(document: Any) -> None:
    assert list(misread("supervisor", document)) == []


@pytest.mark.parametrize("kind", ["long", "float", "double"])
def test_names_an_index_of_a_column_that_has_none(kind: str) -> None:
    dimension = {"type": kind, "name": "n", "createBitmapIndex": True}
    assert list(misread("supervisor", _supervisor(dimension))) == [
        "Druid ignores createBitmapIndex of spec.dataSchema.dimensionsSpec.dimensions[0]. A column of numbers has no "
        "bitmap index."
    ]
    assert list(misread("supervisor", _supervisor({**dimension, "createBitmapIndex": False}))) == []
    assert list(misread("supervisor", _supervisor({**dimension, "type": "string"}))) == []


def test_names_the_field_of_another_stream() -> None:
    kinesis = {"useEarliestSequenceNumber": True}
    assert list(misread("supervisor", {"type": "kafka", "spec": {"ioConfig": kinesis}})) == [
        "Druid ignores useEarliestSequenceNumber of spec.ioConfig. For Kafka, the field is useEarliestOffset."
    ]
    returned = {**kinesis, "useEarliestOffset": True}
    assert list(misread("supervisor", {"type": "kafka", "spec": {"ioConfig": returned}})) == []
    assert list(misread("supervisor", {"type": "kinesis", "spec": {"ioConfig": kinesis}})) == []
