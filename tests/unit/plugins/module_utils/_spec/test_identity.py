# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A specification names its datasource and its supervisor, wherever its type has them."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of, supervisor_id, with_id
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "compact", "dataSource": "wiki"},
        {"type": "kafka", "spec": {"dataSchema": {"dataSource": "wiki"}}},
        {"type": "autocompact", "spec": {"dataSource": "wiki"}},
        {"type": "index_parallel", "dataSource": None, "spec": {"dataSchema": {"dataSource": "wiki"}}},
    ],
)
def test_is_found(spec: dict[str, Any]) -> None:
    assert datasource_of(spec) == "wiki"


@pytest.mark.parametrize("spec", [{}, {"spec": None}, {"spec": {"dataSource": {"type": "table"}}}, {"dataSource": ""}])
def test_missing_id_is_not_invented(spec: dict[str, Any]) -> None:
    assert datasource_of(spec) is None


KAFKA = {"type": "kafka", "spec": {"dataSchema": {"dataSource": "a"}}}
COMPACT = {"type": "autocompact", "spec": {"dataSource": "a"}}
BATCH = {"type": "scheduled_batch", "spec": {}}

IDS: list[tuple[Any, str | None, bool, str]] = [
    (KAFKA, None, False, "a"),
    (KAFKA, None, True, "a"),
    (KAFKA, "a", False, "a"),
    (KAFKA, "b", True, "b"),
    ({**KAFKA, "id": "b"}, None, True, "b"),
    ({**KAFKA, "id": "b"}, "b", True, "b"),
    (COMPACT, None, True, "autocompact__a"),
    (COMPACT, "autocompact__a", False, "autocompact__a"),
    (BATCH, "b", False, "b"),
    ({**BATCH, "id": "b"}, None, True, "b"),
    # a type of an extension that is not one of Druid's own
    ({"type": "mine"}, "b", False, "b"),
    ({"type": "mine", "id": "b"}, None, True, "b"),
]
REFUSED: list[tuple[Any, str | None, bool, str]] = [
    (KAFKA, "b", False, "id ('b'): before Druid 34 the id is the name of the datasource; omit it, or use 'a'"),
    ({**KAFKA, "id": "b"}, "c", True, "id ('c'): the spec has id 'b'; set only one of them"),
    ({"type": "kafka"}, None, True, "spec.dataSchema.dataSource: set the datasource"),
    (COMPACT, "b", True, "id ('b'): type autocompact does not allow a custom id"),
    (BATCH, None, True, "id: a supervisor of type scheduled_batch requires an id"),
    ({}, None, True, "spec.type: set the type of the supervisor, such as kafka"),
    ({"type": ["kafka"]}, "a", True, 'spec.type (["kafka"]): set the type of the supervisor, such as kafka'),
    ({"type": ""}, "a", True, "spec.type (''): set the type of the supervisor, such as kafka"),
    (
        {"type": "kafak"},
        None,
        True,
        "spec.type ('kafak'): is not a type of supervisor in Druid. Did you mean 'kafka'? For a type of another "
        "extension, set id",
    ),
    ({"type": "KAFKA"}, None, True, "Did you mean 'kafka'?"),
    ({"type": "index_kafka"}, None, True, "Did you mean 'kafka'?"),
    ({"type": "mine"}, None, True, "is not a type of supervisor in Druid. For a type of another extension, set id"),
    (
        {"type": "index_parallel"},
        "a",
        True,
        "spec.type ('index_parallel'): is a type of task, not of supervisor. Use the module task for this spec",
    ),
]


@pytest.mark.parametrize(("spec", "specified", "has_own_ids", "expected"), IDS)
def test_supervisor_id(spec: Any, specified: str | None, has_own_ids: bool, expected: str) -> None:
    assert supervisor_id(spec, specified, has_own_ids=has_own_ids) == expected


@pytest.mark.parametrize(("spec", "specified", "has_own_ids", "message"), REFUSED)
def test_rejects_an_id_that_druid_would_ignore(
    spec: Any, specified: str | None, has_own_ids: bool, message: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        supervisor_id(spec, specified, has_own_ids=has_own_ids)

    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("spec", "has_own_ids", "stands_in_it"),
    [(KAFKA, True, True), (KAFKA, False, False), (COMPACT, True, False), (BATCH, False, True)],
)
def test_id_is_set_if_druid_supports_it(spec: Any, has_own_ids: bool, stands_in_it: bool) -> None:
    assert with_id({**spec, "id": "x"}, "y", has_own_ids=has_own_ids) == {
        **spec,
        **({"id": "y"} if stands_in_it else {}),
    }
