# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Brings resources in Druid to their desired state. Result, diff and check mode are derived from the same values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, UncertainState


class Resource(Protocol):
    """A resource in Druid and its desired state. States are JSON in canonical form, None if it does not exist.

    ``warnings``: the warnings for the user so far. ``unknown``: those about fields that Druid does not know or return.
    """

    warnings: list[str]
    unknown: list[str]

    def read(self) -> Any:
        """Return the current state."""

    def merge(self, before: Any) -> Any:
        """Return the desired state. Pure. InvalidInput if it is not possible."""

    def write(self, before: Any, after: Any) -> Any:
        """Apply the desired state, and return the resulting state."""

    def compare(self, after: Any, now: Any) -> None:
        """Warn about fields of ``after`` that Druid has dropped, and about values that it has normalized."""


AnyResource = TypeVar("AnyResource", bound=Resource)


@dataclass(frozen=True)
class Change:
    """
    A change of a resource: its state before, and the desired one. It is due exactly if the two differ.

    ``now``: the state that was read after the write; the desired one in check mode, and if nothing is due. ``problem``:
    why the state after the write is not the specified one, or is uncertain.
    """

    before: Any
    after: Any
    now: Any
    problem: str = ""

    @property
    def changed(self) -> bool:
        """True if a write was sent or, in check mode, would be."""
        return not are_same(self.before, self.after)


def converge(resource: Resource, *, check_mode: bool, is_strict: bool = False) -> Change:
    """
    Bring the resource to its desired state; in check mode only predict the change.

    ``is_strict``: an unknown field is a DruidError, before anything is sent if the current state shows that Druid does
    not know it; otherwise it is the problem of the change.
    """
    before = resource.read()
    after = resource.merge(before)
    planned = Change(before, after, after)
    if is_strict and resource.unknown:
        raise DruidError(" ".join([*resource.unknown, "Nothing is sent (unknown_fields: fail)."]))
    if check_mode or not planned.changed:
        return planned
    try:
        done = replace(planned, now=resource.write(before, after))
    except UncertainState as uncertain:
        return replace(planned, problem=str(uncertain))
    if not (is_strict and resource.unknown):
        return done
    return replace(done, problem=" ".join([*resource.unknown, "All other fields are set (unknown_fields: fail)."]))


def converge_one_of_many(
    create: Callable[[Any], AnyResource], preloaded: Any, *, check_mode: bool, is_strict: bool = False
) -> tuple[AnyResource, Change]:
    """
    Converge a resource, starting from the states of all resources (``preloaded``), None if they were not read.

    Preloaded states may be outdated, so the resource is read again before it is written.
    """
    resource = create(preloaded)
    change = converge(resource, check_mode=check_mode or preloaded is not None, is_strict=is_strict)
    if check_mode or preloaded is None or not change.changed:
        return resource, change
    resource = create(None)
    return resource, converge(resource, check_mode=False, is_strict=is_strict)
