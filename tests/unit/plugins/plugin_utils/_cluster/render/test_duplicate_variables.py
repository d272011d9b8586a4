# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Duplicates of environment variables are removed, and every variable keeps the value that the kubelet computes."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.duplicate_variables import (
    without_duplicate_variables,
)


def env(*pairs: str) -> list[dict[str, Any]]:
    """Return variables from strings such as A=1."""
    return [dict(zip(("name", "value"), pair.split("=", 1), strict=True)) for pair in pairs]


def values(items: list[dict[str, Any]]) -> dict[str, str]:
    """Return the variables of a process as the kubelet computes them: in order, from the earlier ones."""
    result: dict[str, str] = {}

    def expanded(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        return result.get(match[1], match[0])

    for item in items:
        result[item["name"]] = re.sub(r"\$\$|\$\(([^)]*)\)", expanded, item["value"])
    return result


FROM_SECRET = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
# (variables, kept variables, number of messages)
TABLE: list[tuple[list[Any], list[Any], int]] = [
    (env("A=1", "B=$(A)", "A=2"), env("EARLIER_0_A=1", "B=$(EARLIER_0_A)", "A=2"), 1),
    (env("A=1", "A=$(A):2"), env("EARLIER_0_A=1", "A=$(EARLIER_0_A):2"), 1),
    (env("A=1", "A=2", "B=$(A)"), env("A=2", "B=$(A)"), 1),
    (env("A=1", "B=$$(A)", "A=2"), env("B=$$(A)", "A=2"), 1),
    (env("A=1", "B=$$$(A)", "A=2"), env("EARLIER_0_A=1", "B=$$$(EARLIER_0_A)", "A=2"), 1),
    (env("A=1", "A=$(A):2", "A=3"), env("A=3"), 2),
    (env("A=1", "A=$(A):2", "B=$(A)", "A=3"),
     env("EARLIER_0_A=1", "EARLIER_1_A=$(EARLIER_0_A):2", "B=$(EARLIER_1_A)", "A=3"), 2),
    ([FROM_SECRET, *env("B=$(A)", "A=2")],
     [{**FROM_SECRET, "name": "EARLIER_0_A"}, *env("B=$(EARLIER_0_A)", "A=2")], 1),
    (env("B=$(A)", "A=1"), env("B=$(A)", "A=1"), 0),
    (env("A=1", "B=$(C)", "A=2"), env("B=$(C)", "A=2"), 1),
    ([{"name": "A"}, {"name": "B"}, {"name": "A"}], [{"name": "B"}, {"name": "A"}], 1),
    ([{}, {}], [{}, {}], 0),
]  # fmt: skip


@pytest.mark.parametrize(("items", "kept", "number"), TABLE)
def test_one_entry_per_name(items: list[Any], kept: list[Any], number: int) -> None:
    found, messages = without_duplicate_variables(items)
    assert found == kept
    assert len(messages) == number


def test_message_names_the_kept_variable() -> None:
    assert without_duplicate_variables(env("A=1", "B=$(A)", "A=2"))[1] == [
        "variable A is set twice; the earlier value, which other variables refer to, is kept as EARLIER_0_A"
    ]


def test_messages_count_the_entries() -> None:
    assert without_duplicate_variables(env("A=1", "A=2"))[1] == [
        "variable A is set twice; only the other entry is kept"
    ]
    assert without_duplicate_variables(env("A=1", "B=$(A)", "A=2", "A=3"))[1] == [
        "variable A is set 3 times; the earlier value, which other variables refer to, is kept as EARLIER_0_A",
        "variable A is set 3 times; only the last entry is kept under this name",
    ]


def test_every_variable_keeps_its_value() -> None:
    chance = random.Random(17)
    for _case in range(2000):
        names = [chance.choice("ABC") for _each in range(chance.randint(1, 7))]
        items = [
            {"name": name, "value": "".join(chance.choices(["$(A)", "$(B)", "$$", "$", "(C)", f"{number}"], k=3))}
            for number, name in enumerate(names)
        ]
        found, _messages = without_duplicate_variables(items)
        kept = [each["name"] for each in found]
        assert len(kept) == len({*kept})
        after = {name: value for name, value in values(found).items() if not name.startswith("EARLIER_")}
        assert after == values(items)
