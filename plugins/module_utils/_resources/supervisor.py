# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One supervisor: ``/druid/indexer/v1/supervisor`` of the Overlord."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    ApiError,
    NotFound,
    ServerError,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import WaitTimeout, wait_until
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same, merge
from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import (
    differing_fields,
    dropped_fields,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import canonical
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor_change import (
    DesiredSupervisor,
    differ_in_suspension_only,
    merged_spec,
    unknown_supervisor_fields,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, UncertainState

SUPERVISORS = path("druid", "indexer", "v1", "supervisor")
# While it has one of these states it does not know its tasks yet. Stopped then, it kills those that it finds, with all
# that they have read and not published (seen with Druid 33, whose Overlord had just been started again).
STARTING = ("PENDING", "CONNECTING_TO_STREAM", "DISCOVERING_INITIAL_TASKS", "CREATING_TASKS")
# Seconds that it is given to start. One whose stream does not answer takes minutes to be told so; one whose stream did
# not answer at first (Kafka is busy when all supervisors start at once) tells of that error while it starts.
_START = 20.0
# Seconds in which Druid may still be at what it was asked for when the answer is lost: it stops a stream within 80.
_SETTLE_TIMEOUT = 100.0


def supervisor_path(supervisor: str, *parts: str) -> str:
    """Return the path of a supervisor, or of a part or an operation of it."""
    return path("druid", "indexer", "v1", "supervisor", supervisor, *parts)


def terminate(client: DruidClient, supervisor: str) -> None:
    """Terminate a supervisor, which asks its tasks to publish what they have read; NotFound when there is none.

    Where no answer comes a patient client tries it once more: not at once, since who comes back has to start first.
    """
    request = supervisor_path(supervisor, "terminate")
    wait_until_started(client, supervisor)
    try:
        client.post(request)
    except (ServerError, Unreachable) as error:
        if not (client.retries_enabled and error.is_transient):
            raise
        wait_until_started(client, supervisor)
        client.post(request)


def wait_until_started(client: DruidClient, supervisor: str) -> None:
    """Wait, for a bounded time, until a supervisor knows its tasks, so that it can tell them of its end.

    Unreachable when nobody answers. One whose status cannot be had is not waited for.
    """
    with suppress(NotFound, ServerError, WaitTimeout):
        wait_until(
            lambda: detailed_state(client, supervisor),
            lambda state: state not in STARTING,
            timeout=_START,
            awaited="the start of the supervisor",
        )


def detailed_state(client: DruidClient, supervisor: str) -> Any:
    """Return the state of a supervisor as Druid tells it in full, None where its type has none; NotFound."""
    return (client.get(supervisor_path(supervisor, "status")).get("payload") or {}).get("detailedState")


def all_specs(client: DruidClient) -> dict[str, Any]:
    """Return the specifications of all supervisors by id, in one request (``?full``, every version)."""
    return {each["id"]: each["spec"] for each in client.get(SUPERVISORS, params={"full": "true"})}


class Supervisor:
    """
    A supervisor, and what is wanted of it.

    ``specs``: those of all supervisors, where they have been read together. ``warnings``: what a person should know.
    ``settle_timeout``: seconds until a change of which no answer came is taken for not made.
    """

    def __init__(
        self,
        client: DruidClient,
        target: DesiredSupervisor,
        specs: Mapping[str, Any] | None = None,
        *,
        settle_timeout: float = _SETTLE_TIMEOUT,
    ) -> None:
        self._client = client
        self._target = target
        self._specs = specs
        self._settle_timeout = settle_timeout
        self.warnings: list[str] = []

    def read(self) -> dict[str, Any] | None:
        """Return the specification as Druid has it, in canonical form."""
        spec = (self._specs or {}).get(self._target.id)
        if spec is None:
            # the list leaves out, without a word, what the user may not see
            spec = self._read_now()
        return None if spec is None else canonical(spec)

    def merge(self, before: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return the specification that it shall have."""
        self._warn_unknown(".".join(place) for place in unknown_supervisor_fields(before, self._target))
        return merged_spec(before, self._target)

    def write(self, before: dict[str, Any] | None, after: dict[str, Any] | None) -> dict[str, Any] | None:
        """Make, change or terminate it; after an error that leaves doubt the truth is read back."""
        if before is not None and not before.get("suspended"):
            # a change stops it, too
            wait_until_started(self._client, self._target.id)
        try:
            self._send(before, after)
        except (ServerError, Unreachable) as error:
            if isinstance(error, Unreachable) and not error.sent:
                raise
            self._confirm(before, after, error)
        now = self._read_now()
        if after is None and now is None:
            return None
        if after is None:
            raise UncertainState(f"Supervisor {self._target.id!r} was terminated, and is still in the list.")
        if now is None:
            raise UncertainState(
                f"Supervisor {self._target.id!r} was accepted, and is not there. See the Overlord's log."
            )
        now = canonical(now)
        self.compare(after, now)
        return now

    def compare(self, after: dict[str, Any], now: dict[str, Any]) -> None:
        """Warn of what Druid has made of ``after``: of fields that it has dropped, and values that it has changed."""
        self._warn_unknown(dropped_fields(after, now))
        self._warn_of_normalization(now)

    def _send(self, before: dict[str, Any] | None, after: dict[str, Any] | None) -> None:
        if after is None:
            self._client.post(supervisor_path(self._target.id, "terminate"))
        elif before is not None and differ_in_suspension_only(before, after):
            self._toggle("suspend" if after["suspended"] else "resume")
        else:
            self._post(after)

    def _post(self, spec: Mapping[str, Any]) -> None:
        # from Druid 33 on a supervisor that is posted as it is is left alone; before that this is ignored
        self._client.post(SUPERVISORS, spec, params={"skipRestartIfUnmodified": "true"})

    def _toggle(self, operation: str) -> None:
        try:
            self._client.post(supervisor_path(self._target.id, operation))
        except ApiError as error:
            # 400: somebody else has suspended or resumed it since it was read
            if error.status != 400 or "already" not in error.message:
                raise

    def _confirm(
        self, before: dict[str, Any] | None, after: dict[str, Any] | None, error: ServerError | Unreachable
    ) -> None:
        """Return if the change was made nonetheless; otherwise tell what is there, and put back what has vanished."""
        try:
            now = self._read_when_settled(after, error)
        except DruidError as second:
            raise UncertainState(f"{error} What is there now could not be read: {second}") from error
        if _is_desired(now, after):
            self.warnings.append(f"The change was made, although Druid did not say so: {error}")
            return
        if now is None and before is not None and after is not None:
            self._restore(before, error)
        if are_same(now, before):
            raise DruidError(f"{error} Read back: supervisor {self._target.id!r} is as it was.") from error
        state = "is not there" if now is None else "has another spec"
        raise UncertainState(f"{error} Read back: supervisor {self._target.id!r} {state}.") from error

    def _read_when_settled(
        self, after: dict[str, Any] | None, error: ServerError | Unreachable
    ) -> dict[str, Any] | None:
        """Return what is there once Druid is not at it any more, which it is not when it has said that it failed."""

        def read() -> dict[str, Any] | None:
            spec = self._read_now()
            return None if spec is None else canonical(spec)

        has_failed = isinstance(error, ServerError) and not error.is_transient
        try:
            return wait_until(
                read,
                lambda now: has_failed or _is_desired(now, after),
                timeout=self._settle_timeout,
                awaited="the change",
            )
        except WaitTimeout as timeout:
            return timeout.last

    def _restore(self, before: dict[str, Any], error: DruidError) -> None:
        """Druid stops a supervisor before it makes its successor: when that fails there is none."""
        lost = f"{error} The supervisor {self._target.id!r} vanished with this update"
        kept = f"Druid keeps its spec: GET {supervisor_path(self._target.id, 'history')}."
        try:
            self._post(before)
        except DruidError as second:
            raise UncertainState(f"{lost}, and could not be put back: {second} {kept}") from error
        raise UncertainState(f"{lost}; it was put back as it was before.") from error

    def _read_now(self) -> Any:
        """Return the specification; None only if the list, too, says that it is not there."""
        try:
            return self._client.get(supervisor_path(self._target.id))
        except NotFound:
            if self._target.id not in self._client.get(SUPERVISORS):
                return None
        # a leader that has just started knows the list first
        return self._client.get(supervisor_path(self._target.id))

    def _warn_unknown(self, places: Iterable[str]) -> None:
        for place in places:
            version = self._client.version_text
            self._warn(f"Druid {version} does not know the field {place}, and drops it. Check its name.")

    def _warn_of_normalization(self, now: dict[str, Any]) -> None:
        """Druid has taken what was wanted and made something else of it: every run would change it again."""
        again = merged_spec(now, self._target)
        for place in [] if again is None else differing_fields(now, again):
            self._warn(f"Druid keeps another value of {place} than is stated. State it as Druid does, see spec.")

    def _warn(self, text: str) -> None:
        if (warning := f"Supervisor {self._target.id}: {text}") not in self.warnings:
            self.warnings.append(warning)


def _is_desired(now: dict[str, Any] | None, after: dict[str, Any] | None) -> bool:
    if now is None or after is None:
        return now is after
    return are_same(merge(now, after), now)
