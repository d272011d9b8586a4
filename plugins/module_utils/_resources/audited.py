# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A document whose writes are in Druid's audit history, which remembers our last one (``_spec.memory``)."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._resources.document import COMMENT, Audit, Document
from ansible_collections.druidops.druid.plugins.module_utils._spec import memory
from ansible_collections.druidops.druid.plugins.module_utils._spec.memory import Marker
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same
from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import only_adds
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError

# Of the history. Older ones are removed by Druid (druid.coordinator.kill.audit), or are those of many other clients.
_ROWS = 20


class _Write(NamedTuple):
    """A write of this specification: its marker, and the form that Druid has given to the document."""

    marker: Marker
    form: Any


class AuditedDocument(Document):
    """
    What Druid makes of a specification causes no second write. The comment of each write has its marker.

    Others may write the document in between: each difference that Druid's form of our write has as well is Druid's.
    """

    # Druid records a write that changes nothing.
    _records_every_write: bool = True
    # The comment of the last write, which is unique.
    _sent: str = ""

    def merge(self, before: Any) -> Any:
        """Return the desired state, in Druid's form if it differs in nothing else. InvalidInput if it is impossible."""
        after = super().merge(before)
        if are_same(before, after):
            return after
        try:
            last = self._last_write
        except DruidError as error:
            self._warn(
                "Druid's history of it cannot be read, which shows what only Druid has made of the specification. "
                f"Nothing is sent for fields that Druid does not know: {error}"
            )
            return self._without_unknown(before, after)
        if last is None:
            return after if self._records_every_write else self._without_unknown(before, after)
        if last.marker.is_of_older(self._release):
            # it may have dropped what this one knows
            return after
        found = memory.settled(before, after, last.form)
        shown = [*self.unknown]
        self._warn_of_next(found, after)
        # the run that has sent the others has reported them
        self.unknown[:] = shown
        return before if are_same(found, before) else after

    def _without_unknown(self, before: Any, after: Any) -> Any:
        """Return the current state if only unknown fields differ: they may have been sent."""
        unknown = {".".join(field) for field in self._unknown(before)}
        return before if only_adds(before, after, unknown) else after

    @cached_property
    def _last_write(self) -> _Write | None:
        """The last write of this specification, None if the history does not have it."""
        for row in self._rows(_ROWS):
            marker = memory.marker_in_comment(_comment_of(row))
            if marker is not None and marker.specified == self._digest:
                form = self._form_of(row)
                return None if form is None else _Write(marker, form)
        return None

    def _rows(self, count: int) -> Iterable[Any]:
        """Return the newest rows of the history, the newest one first."""
        return self._client.get(self._history, {"count": count}) if self._history else ()

    def _form_of(self, row: Any) -> Any:
        try:
            return self._canonical(json.loads(row["payload"]))
        except (LookupError, TypeError, ValueError):
            # it was too large (druid.audit.manager.maxPayloadSizeBytes)
            return None

    @cached_property
    def _digest(self) -> str:
        return memory.digest_of(self._document, self._history)

    def _with_marker(self) -> Audit:
        """Return the headers of a write, whose comment has the marker."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._sent = memory.marked_comment(self._audit.get(COMMENT, ""), Marker(self._digest, at, self._release))
        return {**self._audit, COMMENT: self._sent}

    def _is_desired(self, now: Any, after: Any) -> bool:
        if super()._is_desired(now, after):
            return True
        return bool(self._sent) and [*map(_comment_of, self._rows(1))] == [self._sent]

    # What subclasses define.

    @property
    @abstractmethod
    def _document(self) -> Any:
        """What the user has specified, as it was parsed."""

    @property
    @abstractmethod
    def _history(self) -> str:
        """The path of the history; empty if Druid has none."""

    @abstractmethod
    def _canonical(self, document: Any) -> Any:
        """Return what Druid has stored, in the form of ``_fetch``."""


def _comment_of(row: Any) -> str:
    info = row.get("auditInfo") if isinstance(row, dict) else None
    comment = info.get("comment") if isinstance(info, dict) else None
    return comment if isinstance(comment, str) else ""
