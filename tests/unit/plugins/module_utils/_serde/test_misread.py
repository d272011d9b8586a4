# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A type that Druid reads as another one is no difference, so a warning reports it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._serde.data_schema import DIMENSION_TYPES, READ_AS_STRING
from ansible_collections.druidops.druid.plugins.module_utils._serde.misread import misread_types


def _supervisor(*dimensions: Any) -> dict[str, Any]:
    return {"type": "kafka", "spec": {"dataSchema": {"dimensionsSpec": {"dimensions": [*dimensions]}}}}


@pytest.mark.parametrize("name", READ_AS_STRING)
def test_names_the_field_and_the_type(name: str) -> None:
    assert list(misread_types("supervisor", _supervisor("a", {"type": name, "name": "b"}))) == [
        f"Druid does not know type {name} of spec.dataSchema.dimensionsSpec.dimensions[1], and reads it as string. "
        "Use a type that it knows."
    ]


@pytest.mark.parametrize("name", [*DIMENSION_TYPES, "of-an-extension", 5, None])
def test_other_types_are_left_to_druid(name: Any) -> None:
    assert list(misread_types("supervisor", _supervisor({"type": name, "name": "b"}))) == []


@pytest.mark.parametrize("document", [None, 5, "x", [], {"spec": 1}, {"type": "kafka", "spec": {"dataSchema": []}}])
def test_invalid_documents_are_left_to_druid(document: Any) -> None:
    assert list(misread_types("supervisor", document)) == []
