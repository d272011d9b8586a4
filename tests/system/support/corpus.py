# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
The corpus: specifications as users write them, in tests/system/modules/corpus. Pure.

A file has the ``module``, a list of ``entries``, and the releases of ``druid`` on which they run, by default ``any``,
the one that the tests run on. 27.0.0 is a real one as well; other releases are put over 33.0.0 (other_release.py).
Fields of an entry:

- ``name``, unique, and ``source``: the documentation, tutorial or template after which it was written
- ``covers``: classes of documented_fields.yml, with the place, or several, of each in the specification
- what is specified: ``spec`` of a supervisor or task, ``config``, ``rules``, or ``query`` with ``context``. For a
  supervisor of Kafka, ``schema``, ``io``, ``tuning`` and ``top`` are only what differs from the smallest one; null
  leaves a field out.
- ``change``: new values by path, such as ``ioConfig/taskDuration``. ``becomes``: by path, what Druid makes of values
  that it normalizes, and other fields that change as a consequence. ``derived``: paths of what Druid derives, which may
  change when it is sent, and is not predicted. ``moved``: where Druid has what is specified at a path
- ``warnings``: parts of the warnings that are expected, by default none
- ``since``, ``until``: the first and last major version of Druid that accepts it
- ``running``: the supervisor is not suspended. ``topic``: the topic exists, as for one that is running
- ``fails``: a part of the message of a task that Druid accepts, and that fails in a test
- ``quick``: it is part of `make test`

``@name@`` is a name that is unique to the run, ``@kafka@`` the address of Kafka, and ``@druid@`` the URL of Druid.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

CORPUS = Path(__file__).parents[1] / "modules" / "corpus"
_TUPLES = ("druid", "derived", "warnings")
# Lists that are not specifications.
_LISTS = ("documented_fields", "refused")
# The release that the tests run on.
ANY = "any"


@dataclass(frozen=True)
class Entry:
    """An entry, with the name of its file and what the file specifies for all of its entries."""

    file: str
    module: str
    name: str
    source: str
    druid: tuple[str, ...] = (ANY,)
    covers: Mapping[str, Any] = field(default_factory=dict)
    spec: Any = None
    config: Any = None
    rules: Any = None
    query: Any = None
    context: Any = None
    schema: Mapping[str, Any] = field(default_factory=dict)
    io: Mapping[str, Any] = field(default_factory=dict)
    tuning: Mapping[str, Any] = field(default_factory=dict)
    top: Mapping[str, Any] = field(default_factory=dict)
    change: Mapping[str, Any] = field(default_factory=dict)
    becomes: Mapping[str, Any] = field(default_factory=dict)
    derived: tuple[str, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    since: int = 0
    until: int = 999
    running: bool = False
    topic: bool = False
    fails: str = ""
    quick: bool = False

    @property
    def id(self) -> str:
        """A unique name for the test."""
        return f"{self.file}: {self.name}"

    def is_for(self, release: str) -> bool:
        """True if that release accepts the entry."""
        return self.since <= int(release.partition(".")[0]) <= self.until

    @property
    def expected(self) -> dict[str, Any]:
        """What the change makes of the specification, by path."""
        return {**{self.moved.get(path, path): value for path, value in self.change.items()}, **self.becomes}

    def specified(self, values: Mapping[str, str]) -> Any:
        """Return what the user writes, with ``values`` for the names between @."""
        return filled(self._document(), values)

    def changed(self, values: Mapping[str, str]) -> Any:
        """Return the same after the change."""
        document = copy.deepcopy(self._document())
        for path, value in self.change.items():
            put(document, self._keys(document, path), value)
        return filled(document, values)

    def without(self, values: Mapping[str, str]) -> Any:
        """Return what the user writes without the lines that the change changes."""
        document = copy.deepcopy(self._document())
        for path in self.change:
            *above, name = self._keys(document, path)
            parent = _at(document, tuple(above))
            if isinstance(parent, dict):
                parent.pop(name, None)
        return filled(document, values)

    def place(self, path: str) -> tuple[Any, ...]:
        """Return the keys and indexes of a path; in a supervisor, it is relative to its three parts."""
        keys = tuple(int(key) if key.isdecimal() else key for key in path.split("/"))
        is_stream = self.module == "supervisor" and keys[0] in ("dataSchema", "ioConfig", "tuningConfig")
        return ("spec", *keys) if is_stream else keys

    def explicit(self, values: Mapping[str, str]) -> list[str]:
        """Return the paths of the change at which there is a value before, and not only a structure."""
        document = self.specified(values)
        before = {self.moved.get(path, path): _at(document, self._keys(document, path)) for path in self.change}
        return [path for path, value in before.items() if value is not None and not isinstance(value, dict | list)]

    def covered(self) -> Iterator[tuple[str, str]]:
        """Yield each class with a place of it."""
        for name, places in self.covers.items():
            yield from ((name, place) for place in ([places] if isinstance(places, str) else places))

    def fields_at(self, path: str) -> set[str]:
        """Return the names of the fields of the mapping at this path, before and after the change."""
        values = {"name": "name", "kafka": "kafka", "druid": "druid"}
        found = (
            _at(document, self._keys(document, path)) for document in (self.specified(values), self.changed(values))
        )
        return {name for each in found if isinstance(each, Mapping) for name in each}

    def _keys(self, document: Any, path: str) -> tuple[Any, ...]:
        """Return the place in what the user writes: the old form of supervisors has the three parts at its top."""
        place = self.place(path) if path else ()
        return place[1:] if place[:1] == ("spec",) and "spec" not in document else place

    def _document(self) -> Any:
        if self.rules is not None:
            return {"rules": self.rules}
        if self.spec is not None or self.config is not None:
            return self.spec or self.config
        if self.query is not None:
            return {"query": self.query, "context": self.context or {}}
        return _stream(self)


def _at(document: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        try:
            document = document[key]
        except (KeyError, IndexError, TypeError):
            return None
    return document


@dataclass(frozen=True)
class Refusal:
    """What Druid refuses: the fields of an entry, a part of Druid's message, and the reason."""

    name: str
    source: str
    message: str
    reason: str
    module: str = "supervisor"
    druid: str = ANY
    spec: Any = None
    config: Any = None
    rules: Any = None
    query: Any = None
    schema: Mapping[str, Any] = field(default_factory=dict)
    io: Mapping[str, Any] = field(default_factory=dict)
    tuning: Mapping[str, Any] = field(default_factory=dict)

    @property
    def entry(self) -> Entry:
        """The same as an entry, which is not taken through its life."""
        specified = ("name", "source", "module", "spec", "config", "rules", "query", "schema", "io", "tuning")
        return Entry("refused", druid=(self.druid,), **{name: getattr(self, name) for name in specified})


_SCHEMA: Mapping[str, Any] = {
    "dataSource": "@name@",
    "timestampSpec": {"column": "ts", "format": "iso"},
    "dimensionsSpec": {"dimensions": ["page"]},
    "granularitySpec": {"segmentGranularity": "day", "queryGranularity": "none", "rollup": False},
}
_IO: Mapping[str, Any] = {
    "topic": "@name@",
    "consumerProperties": {"bootstrap.servers": "@kafka@"},
    "inputFormat": {"type": "json"},
}
_TUNING: Mapping[str, Any] = {"type": "kafka", "shutdownTimeout": "PT2S"}


def _stream(entry: Entry) -> dict[str, Any]:
    """Return the specification of a supervisor that is suspended, so that it starts no task."""
    parts = {
        "dataSchema": _over(_SCHEMA, entry.schema),
        "ioConfig": _over(_IO, entry.io),
        "tuningConfig": _over(_TUNING, entry.tuning),
    }
    return {"type": "kafka", "spec": parts, "suspended": not entry.running, **entry.top}


def _over(base: Mapping[str, Any], specified: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**base, **specified}
    return {name: value for name, value in merged.items() if value is not None or name not in base}


def entries() -> list[Entry]:
    """Return all entries, in the order of the files."""
    return [entry for file in sorted(CORPUS.glob("*.yml")) if file.stem not in _LISTS for entry in _read(file)]


def _read(file: Path) -> Iterator[Entry]:
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    shared = {name: value for name, value in document.items() if name not in ("entries", "shared")}
    for each in document["entries"]:
        fields = {"file": file.stem, **shared, **each}
        yield Entry(**{name: tuple(value) if name in _TUPLES else value for name, value in fields.items()})


def runs(release: str) -> list[tuple[Entry, str]]:
    """Return each entry with each of the releases that it runs on, one such as 27.0.0, or ANY, which is ``release``."""
    return [
        (entry, druid)
        for entry in entries()
        for druid in entry.druid
        if entry.is_for(release if druid == ANY else druid)
    ]


def filled(document: Any, values: Mapping[str, str]) -> Any:
    """Return ``document`` with the values of the names between @."""
    if isinstance(document, dict):
        return {filled(name, values): filled(value, values) for name, value in document.items()}
    if isinstance(document, list):
        return [filled(element, values) for element in document]
    return re.sub(r"@(\w+)@", lambda match: values[match[1]], document) if isinstance(document, str) else document


def put(document: Any, place: tuple[Any, ...], value: Any) -> None:
    """Set a value in place; at the index after the last, append it."""
    for key in place[:-1]:
        document = document[key]
    if isinstance(document, list) and place[-1] == len(document):
        document.append(value)
    else:
        document[place[-1]] = value


def documented_fields() -> dict[str, dict[str, Any]]:
    """Return the fields that Druid documents, by class: see the comment in documented_fields.yml."""
    classes: dict[str, dict[str, Any]] = _yaml("documented_fields")["classes"]
    return classes


def refused() -> list[Refusal]:
    """Return what Druid refuses."""
    return [Refusal(**each) for each in _yaml("refused")["entries"]]


def _yaml(name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((CORPUS / f"{name}.yml").read_text(encoding="utf-8"))
    return document
