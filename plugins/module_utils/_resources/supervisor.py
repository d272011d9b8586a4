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
# In these states a supervisor does not know its tasks yet. If it is stopped then, it kills the tasks that it finds,
# and their unpublished rows are lost (observed with Druid 33, just after a restart of the Overlord).
STARTING = ("PENDING", "CONNECTING_TO_STREAM", "DISCOVERING_INITIAL_TASKS", "CREATING_TASKS")
# Seconds to wait for the start. If the stream is unreachable, the supervisor notices only after minutes. If the stream
# was unreachable at first (Kafka is busy when all supervisors start at once), it reports that error while it starts.
_START = 20.0
# Seconds in which Druid may still be processing a request whose response was lost: stopping a stream takes up to 80.
_SETTLE_TIMEOUT = 100.0


def supervisor_path(supervisor: str, *parts: str) -> str:
    """Return the path of a supervisor, or of a subresource or an operation of it."""
    return path("druid", "indexer", "v1", "supervisor", supervisor, *parts)


def terminate(client: DruidClient, supervisor: str) -> None:
    """Terminate a supervisor, whose tasks then publish their rows. NotFound if it does not exist.

    A client with retries enabled retries a transient error once, after the supervisor has started again.
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
    """Wait, for a limited time, until a supervisor knows its tasks, so that it can stop them gracefully.

    Raises Unreachable if there is no response. Does not wait if the status cannot be read.
    """
    with suppress(NotFound, ServerError, WaitTimeout):
        wait_until(
            lambda: detailed_state(client, supervisor),
            lambda state: state not in STARTING,
            timeout=_START,
            waiting_for="the supervisor to start",
        )


def detailed_state(client: DruidClient, supervisor: str) -> Any:
    """Return the detailed state of a supervisor, None if its type has none. NotFound if it does not exist."""
    return (client.get(supervisor_path(supervisor, "status")).get("payload") or {}).get("detailedState")


def all_specs(client: DruidClient) -> dict[str, Any]:
    """Return the specifications of all supervisors by id, with one request (``?full``, in every version)."""
    return {each["id"]: each["spec"] for each in client.get(SUPERVISORS, params={"full": "true"})}


class Supervisor:
    """
    A supervisor and its desired state.

    ``specs``: those of all supervisors, if they were read together. ``warnings``: those for the user.
    ``settle_timeout``: seconds after which a change without a response is considered failed.
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
        """Return the current specification in canonical form, None if the supervisor does not exist."""
        spec = (self._specs or {}).get(self._target.id)
        if spec is None:
            # the list omits what the user may not read
            spec = self._read_now()
        return None if spec is None else canonical(spec)

    def merge(self, before: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return the desired specification."""
        self._warn_unknown(".".join(field) for field in unknown_supervisor_fields(before, self._target))
        return merged_spec(before, self._target)

    def write(self, before: dict[str, Any] | None, after: dict[str, Any] | None) -> dict[str, Any] | None:
        """Create, update or terminate it. After an ambiguous error the current state is read back."""
        if before is not None and not before.get("suspended"):
            # an update stops it as well
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
            raise UncertainState(f"Supervisor {self._target.id!r} was terminated but is still listed.")
        if now is None:
            raise UncertainState(
                f"Supervisor {self._target.id!r} was accepted but does not exist. Check the Overlord's log."
            )
        now = canonical(now)
        self.compare(after, now)
        return now

    def compare(self, after: dict[str, Any], now: dict[str, Any]) -> None:
        """Warn about fields of ``after`` that Druid has dropped, and about values that it has normalized."""
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
        # since Druid 33 an unmodified supervisor is not restarted; older versions ignore the parameter
        self._client.post(SUPERVISORS, spec, params={"skipRestartIfUnmodified": "true"})

    def _toggle(self, operation: str) -> None:
        try:
            self._client.post(supervisor_path(self._target.id, operation))
        except ApiError as error:
            # 400: it was suspended or resumed concurrently
            if error.status != 400 or "already" not in error.message:
                raise

    def _confirm(
        self, before: dict[str, Any] | None, after: dict[str, Any] | None, error: ServerError | Unreachable
    ) -> None:
        """Return if the change took effect despite the error; otherwise restore a lost supervisor and raise."""
        try:
            now = self._read_when_settled(after, error)
        except DruidError as second:
            raise UncertainState(f"{error} The current state could not be read: {second}") from error
        if _is_desired(now, after):
            self.warnings.append(f"The change took effect despite this error: {error}")
            return
        if now is None and before is not None and after is not None:
            self._restore(before, error)
        if are_same(now, before):
            raise DruidError(f"{error} Current state of supervisor {self._target.id!r}: unchanged.") from error
        state = "does not exist" if now is None else "has a different spec"
        raise UncertainState(f"{error} Current state of supervisor {self._target.id!r}: {state}.") from error

    def _read_when_settled(
        self, after: dict[str, Any] | None, error: ServerError | Unreachable
    ) -> dict[str, Any] | None:
        """Return the current state once Druid has processed the request; at once if Druid reported a failure."""

        def read() -> dict[str, Any] | None:
            spec = self._read_now()
            return None if spec is None else canonical(spec)

        has_failed = isinstance(error, ServerError) and not error.is_transient
        try:
            return wait_until(
                read,
                lambda now: has_failed or _is_desired(now, after),
                timeout=self._settle_timeout,
                waiting_for="the change",
            )
        except WaitTimeout as timeout:
            return timeout.last

    def _restore(self, before: dict[str, Any], error: DruidError) -> None:
        """Restore a supervisor that is lost: Druid stops the old one before it creates the new one, which may fail."""
        lost = f"{error} Supervisor {self._target.id!r} was lost during the update"
        kept = f"Druid keeps its spec: GET {supervisor_path(self._target.id, 'history')}."
        try:
            self._post(before)
        except DruidError as second:
            raise UncertainState(f"{lost} and could not be restored: {second} {kept}") from error
        raise UncertainState(f"{lost}. Its previous spec was restored.") from error

    def _read_now(self) -> Any:
        """Return the specification, None if the supervisor is missing in the list as well."""
        try:
            return self._client.get(supervisor_path(self._target.id))
        except NotFound:
            if self._target.id not in self._client.get(SUPERVISORS):
                return None
        # a leader that has just started loads the list first
        return self._client.get(supervisor_path(self._target.id))

    def _warn_unknown(self, fields: Iterable[str]) -> None:
        for field in fields:
            version = self._client.version_text
            self._warn(f"Druid {version} ignores unknown field {field}. Check its name.")

    def _warn_of_normalization(self, now: dict[str, Any]) -> None:
        """Warn about values that Druid has normalized: every run would change them again."""
        again = merged_spec(now, self._target)
        for field in [] if again is None else differing_fields(now, again):
            self._warn(f"Druid normalizes {field}. Use Druid's form (see spec).")

    def _warn(self, text: str) -> None:
        if (warning := f"Supervisor {self._target.id}: {text}") not in self.warnings:
            self.warnings.append(warning)


def _is_desired(now: dict[str, Any] | None, after: dict[str, Any] | None) -> bool:
    if now is None or after is None:
        return now is after
    return are_same(merge(now, after), now)
