# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The model of the table: a kind of object, its classes by ``type``, and their fields. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

Form = Callable[[Any], Any]
Json = Mapping[str, Any]


class Unknown(Enum):
    """The default of a field that is not in the table."""

    DEFAULT = "unknown"


@dataclass(frozen=True)
class Field:
    """
    A field that Druid reads.

    ``kind``: the kind of its value, or of the elements of its list. ``form``: returns a value as GET has it.
    ``default``: the value that Druid uses if the field is missing or null. ``omitted``: GET does not have the field
    while it has its default, as far as is known: that makes warnings and diffs quieter, and no difference of writes.
    """

    kind: str = ""
    form: Form | None = None
    default: Any = Unknown.DEFAULT
    omitted: bool = False

    @property
    def has_default(self) -> bool:
        """True if the default is known."""
        return self.default is not Unknown.DEFAULT


def omits(default: Any, kind: str = "", form: Form | None = None) -> Field:
    """Return a field that GET does not have while it has this default."""
    return Field(kind, form, default, omitted=True)


def returns(default: Any, kind: str = "", form: Form | None = None) -> Field:
    """Return a field that GET always has."""
    return Field(kind, form, default)


def of_kind(kind: str) -> Field:
    """Return a field whose value, or each element of whose list, is of this kind."""
    return Field(kind)


def in_form(form: Form) -> Field:
    """Return a field whose value GET has in one form."""
    return Field(form=form)


def _unchanged(value: Json) -> Json:
    return value


@dataclass(frozen=True)
class DruidClass:
    """
    A class in Druid.

    ``source``: its name in Druid, below ``org.apache.druid``. ``fields``: those that differ in what is sent and what
    GET has. ``shape``: changes of the whole object, such as fields with another name, before its fields are changed.
    ``one_of``: fields of which Druid accepts one. ``derived``: a field that Druid derives
    from another one unless it is set, and that one. ``is_complete``: GET has every field that this class knows.
    """

    source: str
    fields: Mapping[str, Field] = field(default_factory=dict)
    shape: Callable[[Json], Json] = _unchanged
    one_of: tuple[frozenset[str], ...] = ()
    derived: tuple[tuple[str, str], ...] = ()
    is_complete: bool = False

    def field(self, name: str) -> Field:
        """Return the field, one without any rule if it is not in the table."""
        return self.fields.get(name, _PLAIN)


_PLAIN = Field()
_ANY = DruidClass("")


@dataclass(frozen=True)
class Kind:
    """
    A kind of object.

    ``classes``: by ``type``, where the empty name stands for all other types. ``default_type``: of an object without
    type. ``types``: the names that GET has for other names of types. ``from_text``: the object for a text.
    """

    classes: Mapping[str, DruidClass]
    default_type: str = ""
    types: Mapping[str, str] = field(default_factory=dict)
    from_text: Callable[[str], Any] | None = None

    def class_of(self, value: Json) -> DruidClass:
        """Return the class of an object in canonical form."""
        kind = value.get("type")
        found = self.classes.get(kind) if isinstance(kind, str) else None
        return found or self.classes.get("", _ANY)

    def with_type(self, value: Json) -> Json:
        """Return an object with its type as GET has it."""
        specified = value.get("type")
        kind = self.default_type if specified is None else specified
        if not isinstance(kind, str) or not kind:
            return value
        return {**value, "type": self.types.get(kind, kind)}


def extended(base: DruidClass, source: str, **fields: Field) -> DruidClass:
    """Return a class with further fields."""
    return replace(base, source=source, fields={**base.fields, **fields})
