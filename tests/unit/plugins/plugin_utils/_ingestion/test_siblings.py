# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Of two resources that describe the same supervisor the older one keeps it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.siblings import (
    described,
    older_owner,
    other_owner,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.described import (
    KAFKA,
    nested,
    resource,
)

OTHER_SOURCE = {"spec": {"dataSchema": {"dataSource": "other"}}}


def aged(name: str, created: str, *arguments: Any, **more: Any) -> dict[str, Any]:
    metadata = {"creationTimestamp": created, **more.pop("metadata", {})}
    return resource(*arguments, name=name, metadata=metadata, **more)


MINE = aged("mine", "2026-01-02T00:00:00Z")


@pytest.mark.parametrize(
    ("sibling", "older", "other"),
    [
        (aged("a", "2026-01-01T00:00:00Z"), "a", "a"),
        (aged("a", "2026-01-03T00:00:00Z"), None, "a"),
        # by uid when they are of the same second
        (aged("a", "2026-01-02T00:00:00Z"), "a", "a"),
        (aged("z", "2026-01-02T00:00:00Z"), None, "z"),
        (aged("a", "2026-01-01T00:00:00Z", "kafka", OTHER_SOURCE), None, None),
        (aged("a", "2026-01-01T00:00:00Z", "native-batch", KAFKA), None, None),
        (aged("a", "2026-01-01T00:00:00Z", druidCluster="other"), None, None),
        (aged("a", "2026-01-01T00:00:00Z", ingestion={"nativeSpec": None, "spec": "{"}), None, None),
        *(
            (aged("a", "2026-01-01T00:00:00Z", ingestion={"nativeSpec": None, "spec": nested(levels)}), None, None)
            for levels in (600, 100_000)
        ),
        (aged("a", "2026-01-01T00:00:00Z", metadata={"deletionTimestamp": "2026-01-04T00:00:00Z"}), None, None),
    ],
)
def test_who_keeps_it(sibling: Any, older: str | None, other: str | None) -> None:
    assert older_owner(MINE, [sibling], "pages", has_own_ids=False) == older
    assert other_owner(MINE, [sibling], "pages") == other
    assert ("pages" in described(MINE, [sibling])) == (other is not None)


def test_one_with_an_id_of_its_own_describes_that() -> None:
    sibling = aged("a", "2026-01-03T00:00:00Z", "kafka", {**KAFKA, "id": "own"})
    assert described(MINE, [sibling]) == {"own"}
    assert [other_owner(MINE, [sibling], each) for each in ("own", "pages")] == ["a", None]
