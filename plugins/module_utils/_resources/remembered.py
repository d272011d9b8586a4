# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A document whose own context remembers our last write (``_spec.memory``)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar

from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Document
from ansible_collections.druidops.druid.plugins.module_utils._spec import memory
from ansible_collections.druidops.druid.plugins.module_utils._spec.diff import without_omitted
from ansible_collections.druidops.druid.plugins.module_utils._spec.memory import Marker
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same
from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import added_fields
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path, value_at


class RememberedDocument(Document):
    """
    What Druid makes of a specification causes no second write, and what is specified no longer is removed.

    ``_read``: the state that was read last, as Druid returns it. ``_marker``: its marker, None if another client has
    written it. ``_left_over``: the digest of the differences that the next write is known to leave.
    """

    # in the table of kinds
    _kind: ClassVar[str]
    _id: str
    # False for a partial update, after which what was specified before still is
    _is_whole: bool = True

    _marker: Marker | None = None
    _read: Any = None
    _left_over: str = ""

    @property
    def memory(self) -> Any:
        """What was learnt by reading and merging, which a write by another object needs as well."""
        return self._marker, self._left_over

    @memory.setter
    def memory(self, learnt: Any) -> None:
        self._marker, self._left_over = learnt

    def merge(self, before: Any) -> Any:
        """Return the desired state, in Druid's form if it differs in nothing else. InvalidInput if it is impossible."""
        own = (*self._place, memory.KEY)
        if value_at(self._document, own) is not None and memory.marker_in(self._document, self._place) is None:
            self._warn(f"{'.'.join(own)} is not sent: the collection has its own text there. Use another name.")
        after = super().merge(before)
        self._warn_of_removed(before, after)
        if before is None or after is None:
            return after
        # it is changed alone, and the marker does not know it
        current = {**before, **{name: after[name] for name in ("suspended",) if name in after}}
        if self._marker is None and are_same(without_omitted(self._kind, current, after), current):
            # an object that others have created is not restarted for a default that Druid is known to omit
            return current
        if not self._is_of_last_write():
            return after
        if are_same(current, after) or self._is_after_upgrade():
            return after
        found = self._settled(current, after)
        if found is None:
            # what Druid has once made of this specification
            self._left_over = self._marker.left_over if self._marker else ""
            return after
        self._warn_of_next(found, after)
        # the run that has sent them has reported them
        self.unknown.clear()
        if are_same(found, current):
            return current
        # another client has changed it: all that is specified is sent, also what Druid may drop
        self._left_over = memory.digest_of_left_over(found, after)
        return after

    def _warn_of_next(self, now: Any, after: Any) -> None:
        super()._warn_of_next(now, without_omitted(self._kind, now, after))

    def _warn_of_removed(self, before: Any, after: Any) -> None:
        if not self._is_whole or self._former is None:
            return
        kept = memory.without_removed(before, self._specified, self._former, self._kind)
        absent = {*added_fields(after, before)}
        if removed := [field for field in added_fields(kept, before) if field in absent]:
            self._warn(f"Removed is what the last write specified, and this one does not: {', '.join(removed)}.")

    def _is_of_last_write(self) -> bool:
        """Return whether the last write was ours, of this specification."""
        return self._marker is not None and self._marker.specified == self._digest

    def _is_after_upgrade(self) -> bool:
        """Return whether the last write was one to an older Druid, which may have dropped what this one knows."""
        return self._marker is not None and self._marker.is_of_older(self._release)

    @cached_property
    def _digest(self) -> str:
        return memory.digest_of(self._document, f"{self._kind} {self._id}", self._place) if self._document else ""

    @property
    def _former(self) -> Marker | None:
        """The marker of our last write, None if nothing is removed: it was of others, or of this specification."""
        # an empty document never removes anything
        return self._marker if self._document and not self._is_of_last_write() else None

    def _settled(self, before: Any, after: Any) -> Any:
        """Return the desired state in Druid's form, None if that is not known."""
        proven = self._marker.left_over if self._marker else ""
        return before if proven and proven == memory.digest_of_left_over(before, after) else None

    def _remembered(self, document: Any) -> Any:
        """Return a document that was read, after its marker has been remembered."""
        self._marker, self._read = memory.marker_in(document, self._place), document
        return document

    def _marked(self, after: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is sent, with the marker of this write. Without a specification it is the last one."""
        if self._document:
            at = datetime.now(UTC).isoformat(timespec="milliseconds")
            former = "" if self._is_whole or self._marker is None else self._marker.paths
            paths = memory.paths_of(self._specified, former)
            marker = Marker(self._digest, at, self._release, paths, self._left_over)
        elif self._marker is not None:
            marker = self._marker
        else:
            return {**after}
        return memory.with_marker(after, self._place, marker)

    # What subclasses define.

    @property
    @abstractmethod
    def _document(self) -> Any:
        """What the user has specified, as it was parsed; None if nothing."""

    @property
    @abstractmethod
    def _place(self) -> Path:
        """The path of the context."""
