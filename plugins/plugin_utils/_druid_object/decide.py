# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a resource that describes one object in a Druid, and of its deletion. Pure.

An annotation of the resource names what is in Druid because of it, before anything is sent: nothing else is removed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import error_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import (
    NOTE_ANNOTATION,
    DruidObject,
    age,
    of_same_druid,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.state import (
    ObjectState,
    Plan,
    is_lasting,
    terminating_parent,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.steps import (
    Finalizer,
    Remove,
    SaveNote,
    Step,
    Write,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import (
    DELETING,
    Finding,
    pause_finding,
)

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.kind import ObjectKind
    from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.reads import DruidReads

# Names an object of a kind in a Druid. An empty text stands for any: the only one that this Druid has.
Identity = tuple[str, ...]
FINALIZER = "druid.apache.org/object"
_REMEDY = "This is retried. To delete the resource without removing what it describes, set deletionPolicy Retain."


class Note(NamedTuple):
    """The objects that a resource has submitted to a Druid, or is about to, and this Druid as the spec names it."""

    druid: str = ""
    ids: tuple[Identity, ...] = ()


def note_of(item: DruidObject) -> Note:
    """Return the note in the annotation; an empty one if that is of another resource, or was edited."""
    try:
        found = json.loads(item.annotations[NOTE_ANNOTATION])
        if found["uid"] != item.uid:
            return Note()
        return Note(str(found["druid"]), tuple(tuple(map(str, each)) for each in found["ids"]))
    except (KeyError, TypeError, ValueError, RecursionError):
        return Note()


def text_of(note: Note, uid: str) -> str:
    """Return the value of the annotation of the resource with this uid."""
    return json.dumps({"druid": note.druid, "ids": note.ids, "uid": uid}, sort_keys=True)


def are_same(one: Identity, other: Identity) -> bool:
    """Return whether both may name the same object."""
    return len(one) == len(other) and all(a == b or "" in (a, b) for a, b in zip(one, other, strict=True))


def older_owner(kind: ObjectKind, item: DruidObject, siblings: Iterable[DruidObject]) -> str | None:
    """Return the name of an older resource that describes an object of this one, None if there is none."""
    own = kind.identities(item)
    found = (each for each in of_same_druid(item, siblings) if _describes_any(kind, each, own))
    return next((each.name for each in sorted(found, key=age) if age(each) < age(item)), None)


def _describes_any(kind: ObjectKind, item: DruidObject, identities: Iterable[Identity]) -> bool:
    return any(are_same(own, other) for own in kind.identities(item) for other in identities)


def decide(kind: ObjectKind, item: DruidObject, siblings: tuple[DruidObject, ...], state: ObjectState) -> Plan:
    """Return the plan; that of a paused resource has no steps."""
    noted, own = note_of(item), kind.identities(item)
    former = _former(kind, item, siblings, noted)
    # also what is about to be removed: after a crash it is still known
    before, after = (Note(item.target, tuple(sorted({*own, *others}))) for others in (former, ()))
    finalizer = (Finalizer(FINALIZER, is_set=True),) if item.lacks(FINALIZER) else ()
    steps: tuple[Step, ...] = (
        *finalizer,
        *_saving(item, noted, before),
        *((Write(state.change, kind.writing(item, state.change.desired)),) if state.change.changed else ()),
        *(Remove(kind.title(each), kind.removing(each)) for each in former),
        *_saving(item, before, after),
    )
    plan = Plan(steps, warnings=(*kind.warnings(item), *state.change.warnings, *_left(kind, item, noted)))
    pause = pause_finding(item.annotations, item.spec)
    return plan if pause is None else plan.paused(pause)


def _saving(item: DruidObject, before: Note, after: Note) -> tuple[SaveNote, ...]:
    if item.uid is None or before == after:
        return ()
    return (SaveNote(text_of(after, item.uid)),)


def _former(
    kind: ObjectKind, item: DruidObject, siblings: tuple[DruidObject, ...], noted: Note
) -> tuple[Identity, ...]:
    """Return what the resource has submitted to this Druid, and no resource describes now."""
    if item.retains or noted.druid != item.target:
        return ()
    described = [item, *of_same_druid(item, siblings)]
    return tuple(
        each for each in noted.ids if not any(_describes_any(kind, resource, (each,)) for resource in described)
    )


def _left(kind: ObjectKind, item: DruidObject, noted: Note) -> Iterator[str]:
    """Yield a warning about what stays in the Druid that the spec named before."""
    if noted.ids and noted.druid != item.target:
        yield f"The spec now names another Druid: in {noted.druid}, {_titles(kind, noted.ids)} stays as it is."


def _titles(kind: ObjectKind, identities: Iterable[Identity]) -> str:
    return " and ".join(map(kind.title, identities))


def decide_deletion(kind: ObjectKind, item: DruidObject, reads: DruidReads, problem: Finding | None) -> Plan:
    """Return the plan. Only what it depends on is read: a resource must be deletable although Druid was deleted.

    `problem`: why Druid cannot be asked, or what has failed there.
    """
    if item.uid is not None and FINALIZER not in item.finalizers:
        return _plan(item)
    noted = note_of(item) if item.uid is not None else Note(item.target, kind.identities(item))
    what = _titles(kind, noted.ids)
    if not noted.ids:
        return _released(item)
    if item.retains:
        return _released(item, f"deletionPolicy Retain: {what} is left in Druid.")
    if noted.druid != item.target:
        return _released(item, f"In another Druid ({noted.druid}) than the spec names, {what} is left as it is.")
    others = of_same_druid(item, reads.observe().siblings)
    shared = {each: other.name for each in noted.ids for other in others if _describes_any(kind, other, (each,))}
    left = tuple(
        f"{kind.name} {other} also describes {kind.title(each)}: it is not removed." for each, other in shared.items()
    )
    own = [each for each in noted.ids if each not in shared]
    if not own:
        return _released(item, *left)
    if problem is None:
        try:
            reads.connect()
            removals = (Remove(kind.title(each), kind.removing(each)) for each in own)
            return _plan(item, *removals, *_last_step(item), warnings=left)
        except DruidError as error:
            problem = error_finding(error)
    return _without_druid(item, reads, problem, _titles(kind, own), left)


def _without_druid(item: DruidObject, reads: DruidReads, problem: Finding, what: str, left: tuple[str, ...]) -> Plan:
    """Return the plan while nothing can be removed: to retry, unless Druid or the parent is also deleted."""
    if item.uid is None:
        return Plan(findings=(problem,))
    if is_lasting(problem, reads.observe()):
        return _released(item, *left, f"{problem.message} So {what} was not removed.")
    if parent := terminating_parent(reads):
        return _released(item, *left, f"{problem.message} The {parent} is also being deleted: {what} was not removed.")
    return Plan(findings=(replace(problem, message=f"{problem.message} {_REMEDY}"), DELETING))


def _released(item: DruidObject, *why: str) -> Plan:
    """Return the plan that removes nothing."""
    return _plan(item, *_last_step(item), warnings=why)


def _last_step(item: DruidObject) -> tuple[Step, ...]:
    return () if item.uid is None else (Finalizer(FINALIZER, is_set=False),)


def _plan(item: DruidObject, *steps: Step, warnings: tuple[str, ...] = ()) -> Plan:
    return Plan(steps, () if item.uid is None else (DELETING,), warnings)


def duplicate(kind: ObjectKind, item: DruidObject, owner: str) -> Finding:
    """Return the finding about an older resource that describes the same object."""
    return Finding(
        reasons.DUPLICATE_OBJECT,
        f"{kind.name} {owner}, which is older, also describes {_titles(kind, kind.identities(item))}. Delete one of "
        "them.",
    )
