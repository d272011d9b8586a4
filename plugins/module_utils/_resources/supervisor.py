# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One supervisor: ``/druid/indexer/v1/supervisor`` of the Overlord."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._errors import (
    ApiError,
    DruidError,
    NotFound,
    ServerError,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.dropped import dropped
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same, merge
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import canonical
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor_change import (
    Wanted,
    changed,
    differ_in_suspension_only,
    unknown,
)

SUPERVISORS = path("druid", "indexer", "v1", "supervisor")
# From here on Druid leaves a supervisor alone that is posted as it is.
_SKIPS_UNMODIFIED = (33,)


def supervisor_path(supervisor: str, *parts: str) -> str:
    """Return the path of a supervisor, or of a part or an operation of it."""
    return path("druid", "indexer", "v1", "supervisor", supervisor, *parts)


def all_specs(client: DruidClient) -> dict[str, Any]:
    """Return the specifications of all supervisors by id, in one request (``?full``, every version)."""
    return {each["id"]: each["spec"] for each in client.get(SUPERVISORS, params={"full": "true"})}


class Supervisor:
    """
    A supervisor, and what is wanted of it.

    ``specs``: those of all supervisors, where they have been read together. ``warnings``: what a person should know.
    """

    def __init__(self, client: DruidClient, wanted: Wanted, specs: Mapping[str, Any] | None = None) -> None:
        self._client = client
        self._wanted = wanted
        self._specs = specs
        self.warnings: list[str] = []

    def read(self) -> dict[str, Any] | None:
        """Return the specification as Druid has it, in canonical form."""
        spec = self._read_now() if self._specs is None else self._specs.get(self._wanted.id)
        return None if spec is None else canonical(spec)

    def merge(self, before: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return the specification that it shall have."""
        self._warn(".".join(place) for place in unknown(before, self._wanted))
        return changed(before, self._wanted)

    def write(self, before: dict[str, Any] | None, after: dict[str, Any] | None) -> dict[str, Any] | None:
        """Make, change or terminate it; after an error that leaves doubt the truth is read back."""
        try:
            self._send(before, after)
        except (ServerError, Unreachable) as error:
            if isinstance(error, Unreachable) and not error.sent:
                raise
            self._settle(before, after, error)
        now = self._read_now()
        if after is None and now is None:
            return None
        if after is None:
            raise DruidError(f"Supervisor {self._wanted.id!r} was terminated, and is still in the list.")
        if now is None:
            raise DruidError(f"Supervisor {self._wanted.id!r} was accepted, and is not there. See the Overlord's log.")
        self._warn(place for place in dropped(after, canonical(now)))
        return canonical(now)

    def _send(self, before: dict[str, Any] | None, after: dict[str, Any] | None) -> None:
        if after is None:
            self._client.post(supervisor_path(self._wanted.id, "terminate"))
        elif before is not None and differ_in_suspension_only(before, after):
            self._toggle("suspend" if after["suspended"] else "resume")
        else:
            self._post(after)

    def _post(self, spec: Mapping[str, Any]) -> None:
        skip = {"skipRestartIfUnmodified": "true"} if self._client.supports(*_SKIPS_UNMODIFIED) else None
        self._client.post(SUPERVISORS, spec, params=skip)

    def _toggle(self, operation: str) -> None:
        try:
            self._client.post(supervisor_path(self._wanted.id, operation))
        except ApiError as error:
            # 400: somebody else has suspended or resumed it since it was read
            if error.status != 400 or "already" not in error.words:
                raise

    def _settle(
        self, before: dict[str, Any] | None, after: dict[str, Any] | None, error: ServerError | Unreachable
    ) -> None:
        """Return if the change was made nonetheless; otherwise tell what is there, and put back what has vanished."""
        try:
            spec = self._read_now()
        except DruidError as second:
            raise DruidError(f"{error} What is there now could not be read: {second}") from error
        now = None if spec is None else canonical(spec)
        if are_same(now, after) or (now is not None and after is not None and are_same(merge(now, after), now)):
            self.warnings.append(f"The change was made, although Druid did not say so: {error}")
            return
        if now is None and before is not None and after is not None:
            self._put_back(before, error)
        state = "is not there" if now is None else "is as it was" if are_same(now, before) else "has another spec"
        raise DruidError(f"{error} Read back: supervisor {self._wanted.id!r} {state}.") from error

    def _put_back(self, before: dict[str, Any], error: DruidError) -> None:
        """Druid stops a supervisor before it makes its successor: when that fails there is none."""
        lost = f"{error} The supervisor {self._wanted.id!r} vanished with this update"
        try:
            self._post(before)
        except DruidError as second:
            raise DruidError(f"{lost}, and could not be put back: {second} Its spec before was: see diff.") from error
        raise DruidError(f"{lost}; it was put back as it was before.") from error

    def _read_now(self) -> Any:
        """Return the specification; None only if the list, too, says that it is not there."""
        try:
            return self._client.get(supervisor_path(self._wanted.id))
        except NotFound:
            if self._wanted.id not in self._client.get(SUPERVISORS):
                return None
        # a leader that has just started knows the list first
        return self._client.get(supervisor_path(self._wanted.id))

    def _warn(self, places: Any) -> None:
        for place in places:
            text = f"Druid {self._client.version_text} does not know the field {place}, and drops it. Check its name."
            if (warning := f"Supervisor {self._wanted.id}: {text}") not in self.warnings:
                self.warnings.append(warning)
