# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
What is remembered of our last write: a marker in the context of the object itself, which Druid stores as sent, or in
the comment of the write in Druid's audit history. Pure.

Druid drops fields that it does not know, omits defaults, and changes values. What it makes of a specification is
learnt from its own form of our last write, the baseline, not predicted: a difference that the baseline has as well is
Druid's, and any other one is a change by another client. The marker is written with a write that is due anyway, never
by one of its own, since Druid restarts a supervisor whose context changes.

The marker is one string: Druid copies the context to tasks and queries, which do not all accept a structure there.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._serde.table import class_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import (
    EXACT,
    VERBATIM,
    are_same,
    derived_again,
    differ_in_type,
    names_of,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path, changed_at, value_at

KEY = "druidops"
# Of the marker: a marker of another version is none.
_VERSION = "1"
_NONE = "-"
# The characters of a digest, of 6 bits each: of a document, and of each path in it.
_OF_DOCUMENT, _OF_PATH = 22, 6
# With more paths than these, those inside of lists are left out: each task has a copy of the marker.
_MAX_PATHS = 500
# Of a mapping that is removed as a whole.
_ESSENTIAL = ("type", "enabled", "enableTaskAutoScaler")
# Of objects with a context elsewhere.
_PLACES: Mapping[str, Path] = {"autocompact": ("spec", "taskContext"), "scheduled_batch": ("spec", "context")}
# What no specification removes.
_KEPT = frozenset({("type",), ("id",), ("suspended",), ("spec", "tuningConfig", "type")})


class Marker(NamedTuple):
    """
    The marker of a write.

    ``specified``: the digest of what the user has specified (``digest_of``). ``at``: the time of the write.
    ``release``: that of Druid, such as ``33.0.0``, empty if it is not known. ``paths``: the digests of the specified
    paths (``paths_of``). ``left_over``: the digest of the differences that Druid's form of this specification has
    proven to have; empty if that is not known yet.
    """

    specified: str
    at: str
    release: str
    paths: str = ""
    left_over: str = ""

    @property
    def text(self) -> str:
        """The string in the context."""
        parts = (self.specified, self.at, self.release, self.left_over, self.paths)
        return " ".join((_VERSION, *(part or _NONE for part in parts)))

    def is_of_older(self, release: str) -> bool:
        """Return whether this write was one to an older release of Druid, which may have known fewer fields."""
        return bool(self.release and release) and _numbers(self.release) < _numbers(release)


def _numbers(release: str) -> list[int]:
    return [int(number) for number in release.split(".") if number.isdecimal()]


def place_of(spec: Mapping[str, Any]) -> Path:
    """Return the path of the context of a supervisor."""
    return _PLACES.get(str(spec.get("type")), ("context",))


def marker_in(document: Any, place: Path) -> Marker | None:
    """Return the marker of an object in Druid, None if it has none, such as after a write by another client."""
    return _parsed(value_at(document, (*place, KEY)))


def _parsed(text: Any) -> Marker | None:
    parts = text.split(" ") if isinstance(text, str) else []
    if len(parts) != 6 or parts[0] != _VERSION:
        return None
    specified, at, release, left_over, paths = ("" if part == _NONE else part for part in parts[1:])
    return Marker(specified, at, release, paths, left_over)


def marked_comment(comment: str, marker: Marker) -> str:
    """Return the comment of a write, for Druid's audit history of a document without a context, with the marker."""
    return f"{comment} {KEY} {marker.text}".strip()


def marker_in_comment(comment: str) -> Marker | None:
    """Return the marker in the comment of a write, None if it has none."""
    return _parsed(comment.rpartition(f"{KEY} ")[2])


def unmarked_comment(comment: str) -> str:
    """Return the comment of a write without the marker, if it has one."""
    return comment if marker_in_comment(comment) is None else comment.rpartition(f"{KEY} ")[0].strip()


def without_marker(document: Any, place: Path) -> Any:
    """Return an object without the marker. An empty context is null, as Druid returns one that was never set."""
    if not place:
        return document
    *above, name = place
    return changed_at(document, tuple(above), lambda parent: _with_context(parent, name))


def _with_context(parent: Any, name: str) -> Any:
    context = parent.get(name) if isinstance(parent, Mapping) else None
    if not isinstance(context, Mapping):
        return parent
    kept = {key: value for key, value in context.items() if key != KEY}
    return {**parent, name: kept or None}


def without_markers(value: Any) -> Any:
    """Return a structure without the markers in it, such as those that Druid has copied to tasks and their reports."""
    if isinstance(value, Mapping):
        return {name: without_markers(each) for name, each in value.items() if name != KEY or _parsed(each) is None}
    return [without_markers(each) for each in value] if isinstance(value, list) else value


def with_marker(document: Mapping[str, Any], place: Path, marker: Marker) -> dict[str, Any]:
    """Return an object with the marker. A context that is not a mapping, which Druid rejects, stays as it is."""
    name, *rest = place
    inner = document.get(name)
    if inner is not None and not isinstance(inner, Mapping):
        return {**document}
    changed = with_marker(inner or {}, tuple(rest), marker) if rest else {**(inner or {}), KEY: marker.text}
    return {**document, name: changed}


def digest_of(specified: Any, name: str, place: Path = ()) -> str:
    """
    Return the digest of a document of the user, as parsed, for the object with this name.

    It is not of a canonical form, which differs between releases of the collection. Two writers of the same content
    have the same digest: a number is its text, as a template makes it, and 1.0 is 1, as Kubernetes makes it, where
    Druid does not keep what is sent. The suspension is changed alone, and a marker is copied with the rest.
    """
    known = without_marker({key: value for key, value in specified.items() if key != "suspended"}, place)
    return _digest([name, _as_text(known)], _OF_DOCUMENT)


def _as_text(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): each if name in VERBATIM | EXACT else _as_text(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_as_text(each) for each in value]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value) if isinstance(value, int | float) else value


def _digest(value: Any, length: int) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return base64.urlsafe_b64encode(digest).decode()[:length]


# What was specified and is no longer.


def paths_of(specified: Any, former: str = "") -> str:
    """
    Return the digests of the paths in a document in canonical form, one after another.

    ``former``: those of paths that were specified before, and still are.
    """
    found = [*_specified_paths(specified, ())]
    if len(found) > _MAX_PATHS:
        found = [(path, is_in_list) for path, is_in_list in found if not is_in_list]
    digests = [_digest(path, _OF_PATH) for path, _is_in_list in found]
    return "".join(dict.fromkeys([*_split(former), *digests]))


def _split(paths: str) -> list[str]:
    return [paths[at : at + _OF_PATH] for at in range(0, len(paths), _OF_PATH)]


def _specified_paths(specified: Any, path: Path, *, is_in_list: bool = False) -> Iterator[tuple[tuple[Any, ...], bool]]:
    """
    Yield the paths of what is specified, and whether they are in a list, in which the name of an element is its key.

    A mapping is not itself specified, since others may add to it, unless it has a field without which it is nothing.
    """
    if isinstance(specified, Mapping):
        for name, value in specified.items():
            inside = (*path, str(name))
            if value is not None and inside not in _KEPT:
                if not isinstance(value, Mapping) or any(
                    name in value and (*inside, name) not in _KEPT for name in _ESSENTIAL
                ):
                    yield inside, is_in_list
                yield from _specified_paths(value, inside, is_in_list=is_in_list)
    elif isinstance(specified, list):
        if _has_no_names(specified):
            yield (*path, specified), is_in_list
        for name, element in zip(names_of(specified) or (), specified, strict=False):
            yield from _specified_paths(element, (*path, name), is_in_list=True)


def _has_no_names(elements: list[Any]) -> bool:
    """Return whether nothing inside of a list of mappings has a path: such a list is known with all that is in it."""
    return names_of(elements) is None and any(isinstance(each, Mapping) for each in elements)


def without_removed(before: Any, desired: Any, marker: Marker | None, kind: str) -> Any:
    """
    Return the object in Druid without what was specified with the last write, and is no longer.

    ``kind``: that of the object in the table. What Druid has derived from a removed field is removed as well.
    """
    if marker is None or desired is None:
        return before
    return _without_removed(before, desired, frozenset(_split(marker.paths)), (), kind)


def _without_removed(before: Any, desired: Any, known: frozenset[str], path: Path, kind: str) -> Any:
    if isinstance(before, Mapping) and isinstance(desired, Mapping) and not differ_in_type(before, desired):
        druid_class = class_of(kind, before)
        kept = {}
        for name, value in before.items():
            inside = (*path, str(name))
            rest = _without_removed(value, desired.get(name, {}), known, inside, druid_class.field(name).kind)
            was_specified = value is not None and _digest(inside, _OF_PATH) in known
            if name in desired or not (was_specified or _is_emptied(value, rest)):
                kept[name] = rest
        return derived_again(before, desired, kept, druid_class)
    if isinstance(before, list) and isinstance(desired, list):
        found, names = names_of(before), names_of(desired)
        if found is not None and names is not None:
            by_name = dict(zip(names, desired, strict=True))
            pairs = zip(found, before, strict=True)
            return [_without_removed(each, by_name.get(name), known, (*path, name), kind) for name, each in pairs]
        is_other = _has_no_names(desired) and _digest((*path, desired), _OF_PATH) not in known
        # no element that Druid has is kept, since that may have a field that is specified no longer
        return [] if is_other and _digest(path, _OF_PATH) in known else before
    return before


def _is_emptied(value: Any, rest: Any) -> bool:
    """Return whether nothing is left of a mapping. What others have added to it stays."""
    return rest != value and all(each is None for each in rest.values())


# What is left over: the differences of what is specified and what Druid has.


class _Absent(Enum):
    """The value of a field that one of two states does not have."""

    MISSING = "missing"


_MISSING = _Absent.MISSING


def baseline(rows: Any, marker: Marker, place: Path) -> Any:
    """
    Return Druid's form of the write with this marker, None if the history, the newest row first, does not have it.

    It is the oldest row with the marker. Those after it are of others, such as the autoscaler, or someone who resumes
    or edits the supervisor, and keep the context. A row may be a tombstone, or one that Druid cannot read.
    """
    specs = [row.get("spec") for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    return next((spec for spec in reversed(specs) if marker_in(spec, place) == marker), None)


def settled(before: Any, after: Any, known: Any) -> Any:
    """
    Return the desired state in Druid's form: with what ``before`` has wherever the baseline, ``known``, has the same.

    ``before`` is the current state, and ``after`` the specification merged into it. The result is ``before`` exactly
    if all differences are Druid's.
    """
    if _are_equal(before, after) or _are_equal(before, known):
        return before
    if isinstance(before, Mapping) and isinstance(after, Mapping) and isinstance(known, Mapping):
        names = [*before, *(name for name in after if name not in before)]
        found = {name: settled(*(each.get(name, _MISSING) for each in (before, after, known))) for name in names}
        return {name: value for name, value in found.items() if value is not _MISSING}
    are_lists = isinstance(before, list) and isinstance(after, list) and isinstance(known, list)
    if are_lists and len(before) == len(after) == len(known):
        return [settled(*each) for each in zip(before, after, known, strict=True)]
    return after


def _are_equal(one: Any, other: Any) -> bool:
    return one is other if _MISSING in (one, other) else are_same(one, other)


def digest_of_left_over(before: Any, after: Any) -> str:
    """Return the digest of the differences between the state in Druid and the desired one, empty if there are none."""
    found = [*_differences(before, after, ())]
    return _digest(_as_text(found), _OF_DOCUMENT) if found else ""


def _differences(before: Any, after: Any, path: Path) -> Iterator[list[Any]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in sorted({*before, *after}, key=str):
            yield from _differences(before.get(name, _MISSING), after.get(name, _MISSING), (*path, str(name)))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after, strict=True)):
            yield from _differences(*pair, (*path, str(index)))
    elif not _are_equal(before, after):
        yield [path, before, after]
