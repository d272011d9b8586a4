# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Druid makes something else of is given to it once, and again as soon as anything is different."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import Change
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, to_config_map
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.normalization import (
    NORMALIZED_KEY,
    find_normalized,
    read_normalized,
    skip_normalized,
    with_normalized,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import Converge
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    KAFKA,
    Nothing,
    ingestion,
)
from hypothesis import given
from hypothesis import strategies as st

HERE = "supervisor pages"


class Told(Nothing):
    """Keeps what it is told to compare."""

    def compare(self, after: Any, now: Any) -> None:
        self.warnings.append(f"{after} {now}")


def step(before: Any, after: Any, what: str = HERE) -> Converge:
    return Converge(what, Told(), Change(before, after))


STATED, KEPT = {"a": 1, "typo": 2}, {"a": 1}
MADE = find_normalized([HERE], [step(KEPT, STATED)])


@pytest.mark.parametrize(
    ("given_now", "before", "after", "is_noted"),
    [
        ([HERE], KEPT, STATED, True),
        ([HERE], KEPT, KEPT, False),
        # nothing that was not given just now: somebody else has changed it
        ([], KEPT, STATED, False),
        (["another"], KEPT, STATED, False),
        # it is not there, or is to go
        ([HERE], None, STATED, False),
        ([HERE], KEPT, None, False),
        # Druid keeps no suspension but the one that it was given
        ([HERE], {**KEPT, "suspended": True}, {**KEPT, "suspended": False}, False),
        ([HERE], {**KEPT, "suspended": False}, {**STATED, "suspended": False}, True),
    ],
)
def test_what_is_remembered(given_now: list[str], before: Any, after: Any, is_noted: bool) -> None:
    assert bool(find_normalized(given_now, [step(before, after)])) is is_noted


@pytest.mark.parametrize(
    ("before", "after", "is_spared"),
    [
        (KEPT, STATED, True),
        # whatever somebody changes in Druid is put right
        ({"a": 2}, STATED, False),
        ({**KEPT, "b": 1}, STATED, False),
        (None, STATED, False),
        (KEPT, None, False),
        (KEPT, {**STATED, "suspended": True}, False),
    ],
)
def test_what_is_not_given_again(before: Any, after: Any, is_spared: bool) -> None:
    found = skip_normalized(step(before, after), MADE)
    assert found.change.changed is not is_spared
    assert found.resource.warnings == ([f"{after} {before}"] if is_spared else [])


def test_another_thing_is_none_of_it() -> None:
    assert skip_normalized(step(KEPT, STATED, "compaction of pages"), MADE).change.changed


@given(st.dictionaries(st.text(), st.text()))
def test_it_is_read_as_it_was_remembered(made: dict[str, str]) -> None:
    described = ingestion()
    kept = with_normalized(to_config_map(LastApplied(described.specified, "pages"), described), made)
    assert read_normalized(kept, described) == made
    assert read_normalized(kept, ingestion(document={**KAFKA, "more": 1})) == {}


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "5"])
def test_what_somebody_has_edited_is_nothing(text: str) -> None:
    described = ingestion()
    kept = to_config_map(LastApplied(described.specified, "pages"), described)
    kept["data"][NORMALIZED_KEY] = text
    assert read_normalized(kept, described) == {}
    assert read_normalized(None, described) == {}
