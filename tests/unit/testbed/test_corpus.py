# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The corpus of specifications is well-formed, large enough, and has every field that Druid documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._serde import table
from ansible_collections.druidops.druid.plugins.module_utils._serde.canonical import canonical
from ansible_collections.druidops.druid.plugins.module_utils._serde.table import class_of
from ansible_collections.druidops.druid.tests.system.support.corpus import (
    Entry,
    documented_fields,
    entries,
    refused,
)

VALUES = {"name": "name", "kafka": "localhost:9092", "druid": "http://localhost:8888"}
CLASSES = documented_fields()
MODULES = {
    "compaction",
    "dynamic_config",
    "retention_rules",
    "sql_ingest",
    "supervisor",
    "task",
}
ENTRIES = entries()


def test_there_are_enough_entries_for_each_module() -> None:
    assert len(ENTRIES) >= 120
    assert {entry.module for entry in ENTRIES} == MODULES


def test_names_are_unique() -> None:
    assert [name for name, number in Counter(entry.id for entry in ENTRIES).items() if number > 1] == []


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_entry_is_well_formed(entry: Entry) -> None:
    assert entry.source
    assert entry.change
    assert entry.specified(VALUES) != entry.changed(VALUES)
    assert {*entry.covers} <= {*CLASSES}
    for name, path in entry.covered():
        assert entry.fields_at(path), f"{name}: nothing at {path!r}"


def covered() -> dict[str, set[str]]:
    """Return the fields that entries have, by class."""
    found: dict[str, set[str]] = {}
    for entry in ENTRIES:
        for name, path in entry.covered():
            found.setdefault(name, set()).update(entry.fields_at(path))
    return found


COVERED = covered()


@pytest.mark.parametrize("name", CLASSES)
def test_every_documented_field_is_in_an_entry(name: str) -> None:
    fields, elsewhere = set(CLASSES[name]["fields"]), set(CLASSES[name].get("not_here", {}))
    assert CLASSES[name]["source"]
    assert elsewhere <= fields
    # a class without fields has a reason
    assert fields or CLASSES[name]["reason"]
    assert fields - elsewhere - COVERED.get(name, set()) == set()
    assert elsewhere & COVERED.get(name, set()) == set()


def test_what_druid_refuses_has_a_message_and_a_reason() -> None:
    assert len({case.name for case in refused()}) == len(refused())
    for case in refused():
        assert case.source
        assert case.message
        assert case.reason
        assert case.entry.specified(VALUES)


# The kind of what a module manages, in the table of Druid's classes.
KINDS = {"supervisor": "supervisor", "compaction": "compaction"}


def values_in(kind: str, document: Any) -> Iterator[tuple[tuple[str, str], Any]]:
    """Yield each value in a document in canonical form, with the source of its class and its name."""
    for element in document if isinstance(document, list) else [document]:
        if isinstance(element, dict):
            druid_class = class_of(kind, element)
            for name, value in element.items():
                yield (druid_class.source, name), value
                yield from values_in(druid_class.field(name).kind, value)


def specified_values() -> dict[tuple[str, str], list[Any]]:
    """Return the values of each field in all entries."""
    found: dict[tuple[str, str], list[Any]] = {}
    for entry in ENTRIES:
        for document in (entry.specified(VALUES), entry.changed(VALUES)) if entry.module in KINDS else ():
            kind = KINDS[entry.module]
            for row, value in values_in(kind, canonical(kind, document)):
                found.setdefault(row, []).append(value)
    return found


SPECIFIED = specified_values()
OMITTED = {
    (druid_class.source, name): field.default
    for rules in table.KINDS.values()
    for druid_class in rules.classes.values()
    for name, field in druid_class.fields.items()
    if field.omitted
}


@pytest.mark.parametrize("row", OMITTED, ids="-".join)
def test_every_default_that_druid_omits_is_in_an_entry_and_so_is_another_value(row: tuple[str, str]) -> None:
    values, default = SPECIFIED.get(row, []), OMITTED[row]
    assert [value for value in values if value not in (default, None)]
    assert default is None or default in values
