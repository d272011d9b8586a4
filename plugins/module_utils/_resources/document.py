# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A resource that Druid stores as one document: read, written with an audit history, and read back after an error."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property
from http import HTTPStatus
from typing import Any, ClassVar

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ApiError, ServerError, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import WaitTimeout, wait_until
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import masked
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same
from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import (
    added_fields,
    differing_values,
    kept_fields,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import (
    MAX_VALUE_LENGTH,
    DruidError,
    InvalidInput,
    UncertainState,
    truncate,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path


class Document(ABC):
    """
    The common part: a ``Resource`` whose subclasses define how to fetch, merge and send it.

    ``name``: its name in messages. ``audit``: author and comment of the change. ``warnings``: those for the user, and
    ``unknown``: those of them about fields that Druid does not know or return.
    """

    # Seconds in which Druid may still be processing a change whose response was lost.
    settle_timeout: ClassVar[float] = 0.0
    # The current fields that are not specified are sent as well.
    is_merged: ClassVar[bool] = True

    def __init__(self, client: DruidClient, name: str, audit: Audit | None = None) -> None:
        self._client = client
        self._name = name
        self._audit = audit or {}
        self.warnings: list[str] = []
        self.unknown: list[str] = []

    def read(self) -> Any:
        """Return the current state in canonical form, None if it does not exist."""
        return self._fetch()

    def merge(self, before: Any) -> Any:
        """Return the desired state. InvalidInput if it is not possible."""
        self._warn_unknown(".".join(field) for field in self._unknown(before))
        return self._merged(before)

    def write(self, before: Any, after: Any) -> Any:
        """Apply the desired state and return the new state. UncertainState if it is neither the old nor the desired."""
        now = self._send_and_fetch(before, after)
        if (now is None) != (after is None):
            state = _state(now, after)
            raise UncertainState(
                f"Druid accepted the change of {self._name}. Current state: {state}. Check Druid's log."
            )
        self.compare(after, now)
        return now

    def compare(self, after: Any, now: Any) -> None:
        """Warn about fields of ``after`` that Druid has dropped, and about values that it has normalized."""
        if after is not None and now is not None:
            self._warn_unknown(".".join(field) for field in self._unknown(now))
            self._warn_of_next(now, self._next(now))

    # What subclasses define.

    @property
    @abstractmethod
    def _specified(self) -> Any:
        """What the user has specified, in canonical form; None if nothing."""

    @abstractmethod
    def _fetch(self) -> Any:
        """Read the current state from Druid, in canonical form, None if it does not exist."""

    def _unknown(self, before: Any) -> Iterable[Path]:
        """Return the paths of the fields that Druid does not know, as far as ``before`` shows."""
        return ()

    @abstractmethod
    def _merged(self, before: Any) -> Any:
        """Return the desired state. Pure."""

    @abstractmethod
    def _send(self, before: Any, after: Any) -> None:
        """Send the change. Idempotent."""

    def _repair(self, before: Any, after: Any, now: Any) -> str:
        """Repair what a failed change has damaged. Return the damage and the outcome for the message, if any."""
        return ""

    # After an error that leaves open whether the change took effect.

    def _send_and_fetch(self, before: Any, after: Any) -> Any:
        try:
            self._send(before, after)
        except (ServerError, Unreachable) as error:
            if isinstance(error, Unreachable) and not error.sent:
                raise
            return self._confirm(before, after, error)
        except ApiError as error:
            if error.status != HTTPStatus.BAD_REQUEST or not self.is_merged or before is None or after is None:
                raise
            kept = [*kept_fields(before, after, self._specified, error.message)]
            error.args = (f"{error} {_hint_of_merge(kept)}" if kept else str(error),)
            raise
        try:
            return self._fetch()
        except DruidError as error:
            raise UncertainState(f"{self._name} was changed. The new state could not be read: {error}") from error

    def _confirm(self, before: Any, after: Any, error: ServerError | Unreachable) -> Any:
        """Return the current state if the change took effect despite the error; otherwise raise an error with it."""
        try:
            now = self._fetch_when_settled(after, error)
            is_desired = self._is_desired(now, after)
        except DruidError as second:
            raise UncertainState(f"{error} The current state could not be read: {second}") from error
        if is_desired:
            self._warn(f"The change took effect despite this error: {error}")
            return now
        if damage := self._repair(before, after, now):
            raise UncertainState(f"{error} {damage}") from error
        if are_same(now, before):
            if _is_timeout(error):
                raise UncertainState(f"{error} Current state of {self._name}: not changed yet.") from error
            raise DruidError(f"{error} Current state of {self._name}: unchanged.") from error
        raise UncertainState(f"{error} Current state of {self._name}: {_state(now, after)}.") from error

    def _fetch_when_settled(self, after: Any, error: ServerError | Unreachable) -> Any:
        """Return the current state once Druid has processed the request; at once if Druid reported a failure."""
        has_failed = isinstance(error, ServerError) and not error.is_transient
        try:
            return wait_until(
                self._fetch,
                lambda now: has_failed or self._is_desired(now, after),
                timeout=self.settle_timeout,
                waiting_for="the change",
            )
        except WaitTimeout as timeout:
            return timeout.last

    def _is_desired(self, now: Any, after: Any) -> bool:
        if now is None or after is None:
            return now is after
        return are_same(self._merged(now), now)

    @cached_property
    def _release(self) -> str:
        """The release of Druid, such as ``33.0.0``; empty if the user may not read it."""
        try:
            return ".".join(map(str, self._client.version))
        except ApiError:
            return ""

    # Warnings.

    def _warn_unknown(self, fields: Iterable[str]) -> None:
        for field in fields:
            self._warn(f"{self._client.product} ignores unknown field {field}. Check its name.", self.unknown)

    def _next(self, now: Any) -> Any:
        """Return the state that the next run would desire. An error in it is a warning: the change has been made."""
        try:
            return self._merged(now)
        except InvalidInput as error:
            self._warn(f"Druid normalizes a field that the next run cannot change. {error}")
            return now

    def _warn_of_next(self, now: Any, after: Any) -> None:
        """Warn about what the next run would send again: fields that Druid does not return, and other values."""
        known = {".".join(field) for field in self._unknown(now)}
        for field in (field for field in added_fields(now, after) if field not in known):
            self._warn(
                f"{self._client.product} does not return field {field}: it does not know the field, or "
                "omits its default. Check the name, or remove the field.",
                self.unknown,
            )
        # masking a large specification takes long
        differs = any(True for _difference in differing_values(now, after))
        for field, value, specified in differing_values(masked(now), masked(after)) if differs else ():
            # for null Druid has its default
            if specified is not None:
                form = truncate(json.dumps(value), MAX_VALUE_LENGTH)
                self._warn(f"Druid normalizes {field} to {form}. Use Druid's form.")

    def _warn(self, text: str, *others: list[str]) -> None:
        warning = f"{self._name[0].upper()}{self._name[1:]}: {text}"
        if warning not in self.warnings:
            for found in (self.warnings, *others):
                found.append(warning)


def _is_timeout(error: ServerError | Unreachable) -> bool:
    """Return whether Druid may still be processing the request, however long was waited for it."""
    return error.is_timeout if isinstance(error, Unreachable) else error.status == HTTPStatus.GATEWAY_TIMEOUT


def _state(now: Any, after: Any) -> str:
    if now is None:
        return "does not exist"
    return "still exists" if after is None else "not in the desired state"


# Fields in a hint.
_MAX_FIELDS = 5


def _hint_of_merge(kept: list[str]) -> str:
    """Return what was rejected: a user sees only the specified fields."""
    return (
        f"Druid rejected the specified fields together with the current ones: a field that is not specified "
        f"({', '.join(kept[:_MAX_FIELDS])}) keeps its value. To remove a field, set it to null."
    )


COMMENT = "X-Druid-Comment"
_HEADERS = {"author": "X-Druid-Author", "comment": COMMENT}
Audit = dict[str, str]


def audit(author: str | None = None, comment: str | None = None) -> Audit:
    """Return the headers. InvalidInput for values that an HTTP header cannot contain."""
    specified = {name: text for name, text in (("author", author), ("comment", comment)) if text}
    for name, text in specified.items():
        if not (text.isascii() and text.isprintable()):
            raise InvalidInput(name, text, "it is sent as an HTTP header; use printable ASCII characters on one line")
    return {_HEADERS[name]: text.strip() for name, text in specified.items()}
