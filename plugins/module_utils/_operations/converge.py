# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One way to bring anything in Druid to the state that is wanted: result, diff and check mode cannot disagree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import UncertainState


class Resource(Protocol):
    """A thing in Druid, with what is wanted of it. Its states are JSON in canonical form, None where it is not.

    ``warnings``: what a person should know, as far as it has come to light by now.
    """

    warnings: list[str]

    def read(self) -> Any:
        """Return what is there."""

    def merge(self, before: Any) -> Any:
        """Return what there shall be. Pure; InvalidInput if that cannot be."""

    def write(self, before: Any, after: Any) -> Any:
        """Make it so, and return what is there now."""

    def compare(self, after: Any, now: Any) -> None:
        """Warn of what Druid has made of ``after``: of fields that it has dropped, and values that it has changed."""


AnyResource = TypeVar("AnyResource", bound=Resource)


@dataclass(frozen=True)
class Change:
    """What was, and what is (in check mode: would be). ``problem``: why it is not known to have come to be."""

    before: Any
    after: Any
    problem: str = ""

    @property
    def changed(self) -> bool:
        return not are_same(self.before, self.after)


def converge(resource: Resource, *, check_mode: bool) -> Change:
    """Bring the resource to what is wanted of it; in check mode only tell."""
    before = resource.read()
    after = resource.merge(before)
    if check_mode or are_same(before, after):
        return Change(before, after)
    try:
        return Change(before, resource.write(before, after))
    except UncertainState as uncertain:
        return Change(before, after, str(uncertain))


def converge_one_of_many(
    create: Callable[[Any], AnyResource], preloaded: Any, *, check_mode: bool
) -> tuple[AnyResource, Change]:
    """
    Converge a resource that is made with what has been read of all ``preloaded``, None where nothing has.

    What was read together may be old by now, so nothing is written that was decided on that.
    """
    resource = create(preloaded)
    change = converge(resource, check_mode=check_mode or preloaded is not None)
    if check_mode or preloaded is None or not change.changed:
        return resource, change
    resource = create(None)
    return resource, converge(resource, check_mode=False)
