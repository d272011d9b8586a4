# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a StatefulSet specifies about its pods."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import (
    ordinal_of,
    template_names,
    updated_ordinals,
)

# (specification, ordinals of the pods that an update replaces)
UPDATED: list[tuple[dict[str, Any], list[int]]] = [
    ({}, [0]),
    ({"replicas": 0}, []),
    ({"replicas": 3}, [0, 1, 2]),
    ({"replicas": 3, "ordinals": {"start": 5}}, [5, 6, 7]),
    ({"replicas": 3, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}}, [2]),
    ({"replicas": 3, "ordinals": {"start": 5}, "updateStrategy": {"rollingUpdate": {"partition": 2}}}, [7]),
    ({"replicas": 1, "updateStrategy": {"rollingUpdate": {"partition": 4}}}, []),
    ({"replicas": 2, "ordinals": None, "updateStrategy": {"rollingUpdate": None}}, [0, 1]),
]


@pytest.mark.parametrize(("spec", "expected"), UPDATED)
def test_updated_ordinals(spec: dict[str, Any], expected: list[int]) -> None:
    assert [*updated_ordinals({"spec": spec})] == expected


@pytest.mark.parametrize(
    ("name", "expected"), [("a-b-0", 0), ("a-b-12", 12), ("a-0", None), ("a-b-c-0", None), ("a-b-1234567890", None)]
)
def test_ordinal_of(name: str, expected: int | None) -> None:
    assert ordinal_of({"metadata": {"name": name}}, "a-b") == expected


def test_template_names() -> None:
    templates = [{"metadata": {"name": name}} for name in ("data", "more")]
    assert template_names({"spec": {"volumeClaimTemplates": templates}}) == ["data", "more"]
    assert template_names({"spec": {}}) == []
