# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A thing that Druid keeps as one document, which is read, written, and after an error read again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ServerError, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._resources.audit import Audit
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same
from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import (
    differing_fields,
    dropped_fields,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, UncertainState
from ansible_collections.druidops.druid.plugins.module_utils._values.paths import Path


class Document(ABC):
    """
    What is the same for all of them: a ``Resource`` whose subclasses say how it is read, decided and sent.

    ``name``: what messages call it. ``audit``: who changes it, and why. ``warnings``: what a person should know.
    """

    def __init__(self, client: DruidClient, name: str, audit: Audit | None = None) -> None:
        self._client = client
        self._name = name
        self._audit = audit or {}
        self.warnings: list[str] = []

    def read(self) -> Any:
        """Return what is there, in canonical form; None if it is not."""
        return self._fetch()

    def merge(self, before: Any) -> Any:
        """Return what there shall be; InvalidInput if that cannot be."""
        self.warn_unknown(".".join(place) for place in self._unknown(before))
        return self._merged(before)

    def write(self, before: Any, after: Any) -> Any:
        """Make it so, and return what is there now; UncertainState if that is neither what was nor what shall be."""
        try:
            self._send(before, after)
        except (ServerError, Unreachable) as error:
            if isinstance(error, Unreachable) and not error.sent:
                raise
            return self._confirm(before, error)
        now = self._fetch()
        if (now is None) != (after is None):
            raise UncertainState(
                f"Druid has accepted the change of {self._name}, and it is {_state(now)}. See its log."
            )
        self.compare(after, now)
        return now

    def compare(self, after: Any, now: Any) -> None:
        """Warn of what Druid has made of ``after``: of fields that it has dropped, and values that it has changed."""
        self.warn_unknown(dropped_fields(after, now))
        self._warn_of_normalization(now)

    def warn_unknown(self, places: Iterable[str]) -> None:
        """Tell of fields that this version of Druid does not know."""
        for place in places:
            version = self._client.version_text
            self._warn(f"Druid {version} does not know the field {place}, and drops it. Check its name.")

    # What is different for each of them.

    @abstractmethod
    def _fetch(self) -> Any:
        """Ask Druid what is there."""

    @abstractmethod
    def _unknown(self, before: Any) -> Iterable[Path]:
        """Return the places of the fields that Druid does not know, as far as ``before`` tells."""

    @abstractmethod
    def _merged(self, before: Any) -> Any:
        """Decide what there shall be. Pure."""

    @abstractmethod
    def _send(self, before: Any, after: Any) -> None:
        """Send what makes it so; sent twice, it does the same."""

    # Afterwards.

    def _confirm(self, before: Any, error: ServerError | Unreachable) -> Any:
        """Return what is there if the change was made nonetheless; otherwise tell what is."""
        try:
            now = self._fetch()
        except DruidError as second:
            raise UncertainState(f"{error} What is there now could not be read: {second}") from error
        if are_same(now, before):
            raise DruidError(f"{error} Read back: {self._name} is as it was.") from error
        if not are_same(self._merged(now), now):
            raise UncertainState(f"{error} Read back: {self._name} is {_state(now)}.") from error
        self._warn(f"The change was made, although Druid did not say so: {error}")
        return now

    def _warn_of_normalization(self, now: Any) -> None:
        """Druid has taken what was wanted and made something else of it: every run would change it again."""
        for place in differing_fields(now, self._merged(now)) if now is not None else ():
            self._warn(f"Druid keeps another value of {place} than is stated. State it as Druid does.")

    def _warn(self, text: str) -> None:
        if (warning := f"{self._name[0].upper()}{self._name[1:]}: {text}") not in self.warnings:
            self.warnings.append(warning)


def _state(now: Any) -> str:
    return "not there" if now is None else "there, and not as it is wanted"
