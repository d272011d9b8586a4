# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
Takes an entry of the corpus through its life: created, changed, changed back, removed; each checked and applied, twice.
Then it is created by another client and adopted, by two writers, and at last loses some of its lines.

At each step ``changed`` is true exactly if a write was sent (in check mode: if applying then sends one), and nothing is
warned of that the entry does not expect. ``problems`` yields what is otherwise.

A dynamic configuration exists always: it begins with the changed values, and at last gets back those that it had. A
task runs once, until it ends: the change is another task, and nothing is left to remove.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.compaction import canonical_compaction
from ansible_collections.druidops.druid.plugins.module_utils._spec.memory import without_markers
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import EXACT, VERBATIM
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import canonical
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, PartialFailure
from ansible_collections.druidops.druid.tests.system.support.corpus import Entry, filled
from ansible_collections.druidops.druid.tests.system.support.corpus_diff import (
    Place,
    Result,
    differing,
    leaves_of,
    nulls_in,
    nulls_of,
    overlap,
    shown,
    unexpected,
)
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct
from testbed.druid.druid import Druid

# Of GET and POST, by the option of dynamic_config.
_CONFIGS = {
    "compaction": "/druid/indexer/v1/compaction/config/cluster",
    "coordinator": "/druid/coordinator/v1/config",
    "overlord": "/druid/indexer/v1/worker",
}
_CONFIG = "dynamic_config"
_SUPERVISORS = "/druid/indexer/v1/supervisor"
_COMPACTIONS = "/druid/coordinator/v1/config/compaction"
_TASKS = ("task", "sql_ingest")
_REMEMBERED = ("compaction", "supervisor")
_ADOPTED = (*_REMEMBERED, "retention_rules")
# Of GET.
_PATHS = {
    "compaction": "/druid/coordinator/v1/config/compaction/{name}",
    "retention_rules": "/druid/coordinator/v1/rules/{name}",
    "supervisor": "/druid/indexer/v1/supervisor/{name}",
}


def problems(direct: Direct, entry: Entry) -> Iterator[str]:
    """Yield what is not as it should be. Leaves nothing in Druid."""
    values = _values(direct.druid)
    life = _Life(direct, entry, values)
    with _topic(direct.druid, entry, values["name"]), life.removed_at_last():
        if entry.module == _CONFIG:
            life.call(entry.changed(values), check_mode=False)
        yield from life.specify("create", entry.specified(values))
        yield from life.declare_returned("create")
        yield from life.specify("change", entry.changed(values), expected=life.expected())
        yield from life.declare_returned("change")
        if entry.module not in _TASKS:
            yield from life.change_back()
        if entry.module != _CONFIG:
            yield from life.remove()
        if entry.module in _ADOPTED and not entry.running:
            yield from life.adopt()
        if entry.module in _REMEMBERED and not entry.running:
            yield from life.lose_lines()


def _values(druid: Druid) -> dict[str, str]:
    kafka = druid.kafka.address if druid.kafka else ""
    return {"name": f"c{secrets.token_hex(4)}", "kafka": kafka, "druid": druid.url}


def refusal(direct: Direct, entry: Entry) -> str:
    """Return the message with which this is refused, empty if it is not."""
    values = _values(direct.druid)
    life = _Life(direct, entry, values)
    with life.removed_at_last():
        try:
            life.call(entry.specified(values), check_mode=False)
        except DruidError as error:
            return str(error)
        life.is_there = True
    return ""


@contextmanager
def _topic(druid: Druid, entry: Entry, name: str) -> Iterator[None]:
    """The topic, if it should exist; and at last, neither a task nor a segment is left."""
    is_there = druid.kafka is not None and (entry.topic or entry.running)
    if is_there and druid.kafka:
        druid.kafka.make_topic(name)
    try:
        yield
    finally:
        if is_there or entry.module in _TASKS:
            druid.remove_datasource(name)
        if is_there and druid.kafka:
            druid.kafka.delete_topic(name)


@dataclass
class _Life:
    direct: Direct
    entry: Entry
    values: Mapping[str, str]

    @contextmanager
    def removed_at_last(self) -> Iterator[None]:
        """Remove what is left, or restore what was there before."""
        path = self.path() if self.entry.module == _CONFIG else ""
        before = path and self.direct.client.get(path)
        self.is_there = False
        try:
            yield
        finally:
            if path:
                self.direct.druid.request("POST", path, before or {})
            elif self.is_there:
                self.call(None, check_mode=False)

    def specify(self, step: str, document: Any, expected: Mapping[Place, Any] | None = None) -> Iterator[str]:
        """Yield the problems of specifying this: in check mode, then not, then both again."""
        for number, check_mode in enumerate((True, False, True, False)):
            self.is_there = True
            result = self.call(document, check_mode=check_mode)
            when = f"{step}, {'check' if check_mode else 'apply'}{' again' if number > 1 else ''}"
            yield from self.judge(when, result, check_mode=check_mode, is_due=number < 2)
            if expected is not None and number < 2:
                derived = self.specified_nulls(document, result) - {*expected}
                found = {
                    place: pair
                    for place, pair in leaves_of(result).items()
                    if not self.is_derived(place) and place not in derived
                }
                # a prediction may have what the user wrote, in place of what Druid makes of it
                also = self.specified() if check_mode else {}
                yield from (f"{when}: {each}" for each in unexpected(found, expected, also))

    def declare_returned(self, step: str) -> Iterator[str]:
        """Yield the problems of specifying what Druid returns, which changes nothing."""
        if path := self.path():
            returned = without_markers(self.direct.client.get(path))
            option = self.option()
            document = {option: returned} if option else returned
            result = self.call(document, check_mode=True)
            yield from self.judge(f"{step}, declared as returned", result, check_mode=True, is_due=False)

    def change_back(self) -> Iterator[str]:
        """Yield the problems of specifying the first values again: explicit ones are sent, also defaults."""
        document = self.entry.specified(self.values)
        explicit = self.entry.explicit(self.values)
        if not explicit:
            return
        result = self.call(document, check_mode=True)
        found = leaves_of(result)
        missing = [path for path in explicit if not any(overlap(self.place(path), each) for each in found)]
        yield from (f"change back: does not change {path}" for path in missing)
        yield from self.specify("change back", document)

    def adopt(self) -> Iterator[str]:
        """Yield the problems of specifying what another client has sent, and then as another writer has it."""
        document = self.entry.specified(self.values)
        match self.entry.module:
            case "supervisor":
                path, sent = _SUPERVISORS, document
            case "retention_rules":
                path, sent = self.path(), document["rules"]
            case _:
                path, sent = _COMPACTIONS, {"dataSource": self.values["name"], **document}
        # the older API of compaction has no engine
        with suppress(DruidError):
            self.direct.client.post(path, sent)
        self.is_there = True
        self.call(document, check_mode=False)
        for when, each in (("adopted", document), ("by another writer", _as_text(document))):
            if again := leaves_of(self.call(each, check_mode=True)):
                yield f"{when}: changes again {shown(again)}"

    def lose_lines(self) -> Iterator[str]:
        """Yield how the state without some lines differs from one that never had them."""
        document = self.entry.specified(self.values)
        shorter = self.entry.without(self.values)
        self.call(None, check_mode=False)
        if not shorter:
            # it specifies nothing, and so removes nothing
            self.is_there = False
            return
        try:
            self.call(shorter, check_mode=False)
        except DruidError:
            # Druid requires one of the lines
            self.is_there = False
            return
        first = self.returned()
        self.call(document, check_mode=False)
        self.call(shorter, check_mode=False)
        differences = dict(differing(first, self.returned(), ()))
        # it stays as it is if it is not specified
        differences.pop(("suspended",), None)
        if differences:
            yield f"without lines: leaves {shown(differences)}"
        if again := leaves_of(self.call(shorter, check_mode=True)):
            yield f"without lines: changes again {shown(again)}"

    def returned(self) -> Any:
        """Return what Druid has, without the marker, in one order."""
        found = self.direct.client.get(self.path())
        return canonical(found) if self.entry.module == "supervisor" else canonical_compaction(found)

    def specified_nulls(self, document: Any, result: Result) -> set[Place]:
        """Return the places of the nulls in the diff that are specified; the diff has more levels than an old form."""
        specified = {*nulls_in(document, ())}
        return {
            place for place in nulls_of(result) if any(place[-len(each) :] == each[-len(place) :] for each in specified)
        }

    def judge(self, when: str, result: Result, *, check_mode: bool, is_due: bool) -> Iterator[str]:
        """Yield what is wrong about ``changed``, the writes and the warnings of a result."""
        # tasks of a supervisor that ran may be shut down after it
        writes = [each for each in self.direct.writes if not (self.entry.running and each.endswith("/shutdown"))]
        if result["changed"] != is_due:
            yield f"{when}: changed={result['changed']} {shown(leaves_of(result))}"
        due = is_due and not check_mode
        # what Druid makes of a compaction is remembered by a second write, which compacts nothing again
        if len(writes) != due and not (due and self.entry.module == "compaction" and writes == writes[:1] * 2):
            yield f"{when}: sent {writes}"
        # of fields that exclude each other, and of those that the change has added
        expected = (*self.entry.warnings, *(["Removed is what"] if when.startswith("change") else ()))
        found = [each for each in result.get("warnings", ()) if not any(part in each for part in expected)]
        yield from (f"{when}: warns {each!r}" for each in found)

    def remove(self) -> Iterator[str]:
        """Yield the problems of removing it twice."""
        for number, when in enumerate(("remove", "remove again")):
            result = self.call(None, check_mode=False)
            self.is_there = False
            is_due = number == 0 and self.entry.module not in _TASKS
            yield from self.judge(when, result, check_mode=False, is_due=is_due)

    def call(self, document: Any, *, check_mode: bool) -> Result:
        """Return the result of the entry's module; ``document``: None removes what it is about."""
        direct, name = self.direct, self.values["name"]
        state = "absent" if document is None else "present"
        match self.entry.module:
            case "supervisor":
                arguments = {"id": self.id()} if document is None else {"spec": document}
                return direct.supervisor(check_mode=check_mode, state=state, **arguments)
            case "compaction":
                return direct.compaction(check_mode=check_mode, datasource=name, config=document, state=state)
            case "retention_rules":
                return direct.retention_rules(check_mode=check_mode, datasource=name, state=state, **(document or {}))
            case "task":
                return self.ended(direct.task, spec=document or self.last(), state=state, check_mode=check_mode)
            case "sql_ingest":
                return self.ended(direct.query, **(document or self.last()), state=state, check_mode=check_mode)
        return direct.dynamic_config(check_mode=check_mode, **document)

    def path(self) -> str:
        """The path of GET; empty for a task."""
        if self.entry.module == _CONFIG:
            return _CONFIGS[self.option()]
        return _PATHS.get(self.entry.module, "").format(name=self.id())

    def option(self) -> str:
        """The option that has what is returned; empty if it is the whole document."""
        if self.entry.module == _CONFIG:
            return next(iter(self.entry.config))
        return "rules" if self.entry.module == "retention_rules" else ""

    def last(self) -> Any:
        """Return the specification of the task that was submitted last."""
        return self.entry.changed(self.values)

    def ended(self, submit: Callable[..., Result], **params: Any) -> Result:
        """
        Submit a task, wait for its end, and return the result.

        An Indexer does not free the slot of a task that is shut down while it starts.
        """
        try:
            return submit(wait=True, **params)
        except PartialFailure as failure:
            if not self.entry.fails or self.entry.fails not in str(failure):
                raise
            return failure.result

    def id(self) -> str:
        """The id of the supervisor."""
        name, spec = self.values["name"], self.entry.spec or {}
        return f"autocompact__{name}" if spec.get("type") == "autocompact" else name

    def expected(self) -> dict[Place, Any] | None:
        """Return what should change, by place in the diff, None for tasks, whose diff is the task."""
        return None if self.entry.module in _TASKS else self._by_place(self.entry.expected)

    def specified(self) -> dict[Place, Any]:
        """Return the same as the user writes it."""
        return self._by_place(self.entry.change)

    def _by_place(self, paths: Mapping[str, Any]) -> dict[Place, Any]:
        return {self.place(path): filled(value, self.values) for path, value in paths.items()}

    def place(self, path: str) -> Place:
        """Return the place in the diff, which is of a configuration without the option's name."""
        place = self.entry.place(path)
        return place[1:] if self.entry.module == _CONFIG else place

    def is_derived(self, place: Place) -> bool:
        """True if Druid derives what is at this place."""
        return any(overlap(place, self.place(path)) for path in self.entry.derived)


def _as_text(value: Any) -> Any:
    """Return a specification with booleans and numbers, but not those of times, as text where Druid reads both."""
    if isinstance(value, Mapping):
        return {name: each if name in VERBATIM | EXACT else _as_text(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_as_text(each) for each in value]
    return json.dumps(value) if isinstance(value, int) and (isinstance(value, bool) or 0 < value < 1000) else value
