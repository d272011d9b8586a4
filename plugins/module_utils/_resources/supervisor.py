# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
One supervisor: ``/druid/indexer/v1/supervisor`` of the Overlord.

Offsets are reset with ``/reset`` (in every version) and ``/resetOffsets`` (since Druid 28).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    ApiError,
    NotFound,
    ServerError,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.orphaned_tasks import (
    find_orphaned_tasks,
    shut_down_orphaned_tasks,
    status_payload,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.remembered import RememberedDocument
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_start import (
    STARTING,
    SupervisorStarts,
    detailed_state,
    wait_until_started,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec import memory
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same, merge
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import (
    DesiredSupervisor,
    canonical,
    differ_in_suspension_only,
    merged_spec,
    stream_name,
    stream_of,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import (
    DruidError,
    InvalidInput,
    NotConnected,
    UncertainState,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path

SUPERVISORS = path("druid", "indexer", "v1", "supervisor")
# of the history, which are enough unless others have changed a supervisor more often since the last write
_ROWS = 20


def supervisor_path(supervisor: str, *parts: str) -> str:
    """Return the path of a supervisor, or of a subresource or an operation of it."""
    return path("druid", "indexer", "v1", "supervisor", supervisor, *parts)


def terminate(client: DruidClient, supervisor: str) -> None:
    """Terminate a supervisor, whose tasks then publish their rows. It is not an error if it does not exist.

    A client with retries enabled retries a transient error once, after the supervisor has started again. Its absence is
    verified in the list: UncertainState if the list still has it.
    """
    request = supervisor_path(supervisor, "terminate")
    wait_until_started(client, supervisor)
    with suppress(NotFound):
        try:
            client.post(request)
        except (ServerError, Unreachable) as error:
            if not (client.retries_enabled and error.is_transient):
                raise
            wait_until_started(client, supervisor)
            client.post(request)
    # a leader that has just started responds with 404 until it has loaded the supervisors
    if supervisor in client.get(SUPERVISORS):
        raise UncertainState(f"Supervisor {supervisor!r} still exists after its termination. Check Druid's log.")


def all_specs(client: DruidClient) -> dict[str, Any]:
    """Return the specifications of all supervisors by id, with one request (``?full``, in every version)."""
    return {each["id"]: each["spec"] for each in client.get(SUPERVISORS, params={"full": "true"})}


class Supervisor(RememberedDocument):
    """
    A supervisor and its desired state.

    ``specs``: those of all supervisors, if they were read together; ``starts``: the starts of all, in that case.
    ``orphaned_tasks``: the ids of the tasks that were shut down after its termination, unless ``keeps_orphaned_tasks``.
    """

    _kind = "supervisor"
    # stopping a stream takes up to 80 seconds
    settle_timeout = 100.0

    def __init__(
        self,
        client: DruidClient,
        target: DesiredSupervisor,
        specs: Mapping[str, Any] | None = None,
        starts: SupervisorStarts | None = None,
        *,
        keeps_orphaned_tasks: bool = False,
    ) -> None:
        super().__init__(client, f"supervisor {target.id!r}")
        self._id = target.id
        self._target = target
        for text in target.warnings:
            self._warn(text)
        self._is_whole = target.is_whole
        self._specs = specs or {}
        self._starts = starts
        self._keeps_orphaned_tasks = keeps_orphaned_tasks
        self.orphaned_tasks: tuple[str, ...] = ()
        # the marker before the write, and that of the write
        self._previous: memory.Marker | None = None
        self._sent: memory.Marker | None = None

    def read(self) -> dict[str, Any] | None:
        """Return the current specification. The list omits those that the user may not read, so these are read here."""
        spec = self._specs.get(self._target.id)
        return self._fetch() if spec is None else canonical(self._remembered(spec))

    def write(self, before: Any, after: Any) -> dict[str, Any] | None:
        """Create, update or terminate it, and return the new specification. Errors as for any document."""
        if before is not None and not before.get("suspended"):
            # an update stops it as well
            self._wait_until_started()
        if after is not None or not self._shuts_down_tasks_of(before):
            return super().write(before, after)
        payload = status_payload(self._client, self._target.id)
        now = super().write(before, after)
        self.orphaned_tasks, warnings = shut_down_orphaned_tasks(self._client, self._target.id, payload)
        self.warnings.extend(warnings)
        return now

    def predict_orphaned_tasks(self, before: Any) -> tuple[str, ...]:
        """Return the ids of the tasks that a termination at this moment would shut down."""
        if not self._shuts_down_tasks_of(before):
            return ()
        payload = status_payload(self._client, self._target.id)
        return find_orphaned_tasks(self._client, self._target.id, payload).certain

    def _shuts_down_tasks_of(self, before: Any) -> bool:
        return before is not None and stream_of(before) is not None and not self._keeps_orphaned_tasks

    def _wait_until_started(self) -> None:
        if self._starts is None:
            wait_until_started(self._client, self._target.id)
        else:
            self._starts.wait_until_started(self._target.id)

    @property
    def _specified(self) -> Any:
        return self._target.spec

    @property
    def _document(self) -> Any:
        return self._target.document

    @property
    def _place(self) -> Path:
        return memory.place_of(self._target.spec or {})

    def _fetch(self) -> dict[str, Any] | None:
        spec = self._remembered(self._get())
        return None if spec is None else canonical(spec)

    def _settled(self, before: Any, after: Any) -> Any:
        """Return the desired state in Druid's form, which is in its history of the supervisor."""
        known = super()._settled(before, after)
        if known is not None or self._marker is None:
            return known
        try:
            rows = self._rows(self._marker)
        except DruidError as error:
            self._warn(
                "Druid's history of it cannot be read, which shows whether another client has changed it, or only "
                f"Druid the form of what was specified. Nothing is sent: {error}"
            )
            return before
        found = memory.baseline(rows, self._marker, self._place)
        if found is None:
            return None
        # mostly it has not been changed since
        return before if are_same(found, self._read) else memory.settled(before, after, canonical(found))

    def _rows(self, marker: memory.Marker) -> Any:
        """Return the newest rows of the history, at least all of the last write. The count is read since Druid 35."""
        request = supervisor_path(self._target.id, "history")
        rows = self._client.get(request, {"count": _ROWS})
        may_be_cut = len(rows) == _ROWS and memory.baseline(rows[-1:], marker, self._place) is not None
        return self._client.get(request) if may_be_cut else rows

    def _get(self) -> Any:
        """Return the specification, None if the supervisor is missing in the list as well."""
        try:
            return self._client.get(supervisor_path(self._target.id))
        except NotFound:
            if self._target.id not in self._client.get(SUPERVISORS):
                return None
        # a leader that has just started loads the list first
        return self._client.get(supervisor_path(self._target.id))

    def _merged(self, before: Any) -> dict[str, Any] | None:
        return merged_spec(before, self._target, self._former)

    def _is_desired(self, now: Any, after: Any) -> bool:
        """Compare with what was sent: a supervisor that was created concurrently may read another stream."""
        if now is None or after is None:
            return now is after
        return (self._sent is not None and self._marker == self._sent) or are_same(merge(now, after), now)

    def _send(self, before: Any, after: Any) -> None:
        if after is None:
            self._client.post(supervisor_path(self._target.id, "terminate"))
        elif before is not None and differ_in_suspension_only(before, after):
            self._toggle("suspend" if after["suspended"] else "resume")
        else:
            self._previous, spec = self._marker, self._marked(after)
            marker = memory.marker_in(spec, self._place)
            self._sent = None if marker == self._previous else marker
            self._post(spec)

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

    def _repair(self, before: Any, after: Any, now: Any) -> str:
        """Restore a supervisor that is lost: Druid stops the old one before it creates the new one, which may fail."""
        if now is not None or before is None or after is None:
            return ""
        lost = f"Supervisor {self._target.id!r} was lost during the update"
        try:
            self._post(memory.with_marker(before, self._place, self._previous) if self._previous else before)
        except DruidError as error:
            kept = f"Druid keeps its spec: GET {supervisor_path(self._target.id, 'history')}."
            return f"{lost} and could not be restored: {error} {kept}"
        return f"{lost}. Its previous spec was restored."


# A supervisor queues requests, and drops the queue when it is stopped. In these states it does not process the queue.
_NOT_CONNECTED = (*STARTING, "UNABLE_TO_CONNECT_TO_STREAM", "LOST_CONTACT_WITH_STREAM", "STOPPING")


def reset(client: DruidClient, supervisor: str) -> None:
    """Clear the stored offsets. Druid does so asynchronously, then continues as ``useEarliestOffset`` specifies."""
    client.post(supervisor_path(supervisor, "reset"))


def reset_before_resuming(client: DruidClient, supervisor: str) -> None:
    """Clear the offsets of a suspended supervisor so that it can be resumed immediately.

    NotConnected if Druid might drop the reset, which must then be repeated before anything else. Druid queues the reset
    behind the supervisor's current work, and drops the queue when the supervisor is stopped, as it is when it is
    resumed (observed with Druid 33, just after a restart of the Overlord, with Kafka unreachable at first). With a
    ``topicPattern`` the supervisor polls its topics, and reports an unreachable Kafka only after three failures.
    """
    wait_until_started(client, supervisor)
    _require_connection(client, supervisor)
    reset(client, supervisor)
    # a supervisor that is starting now is a new one, which does not have the reset in its queue
    _require_connection(client, supervisor)


def _require_connection(client: DruidClient, supervisor: str) -> None:
    try:
        state = detailed_state(client, supervisor)
    except NotFound:
        # a leader that has just started has not loaded it yet
        state = "unknown"
    if state in (*_NOT_CONNECTED, "unknown"):
        raise NotConnected(
            f"Supervisor {supervisor!r} is {state}: it is not connected to its stream. An offset reset could be "
            "lost when it is resumed, so it stays suspended until it is connected. If the stream has moved, "
            "suspend the supervisor, update its spec, and then resume it."
        )


def reset_offsets(client: DruidClient, supervisor: str, spec: Mapping[str, Any], offsets: Mapping[str, Any]) -> None:
    """Set the offsets of some partitions (partition to offset). Druid does so asynchronously."""
    try:
        client.post(supervisor_path(supervisor, "resetOffsets"), offsets_body(spec, offsets))
    except NotFound:
        remedy = f"requires Druid 28 or newer, and supervisor {supervisor!r} in this {client.product}"
        raise InvalidInput("reset_offsets", dict(offsets), remedy) from None


def offsets_body(spec: Mapping[str, Any], offsets: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of ``/resetOffsets`` for a supervisor with this specification."""
    stream = stream_name(spec)
    if not stream:
        raise InvalidInput("reset_offsets", dict(offsets), "the supervisor does not read a single stream; use reset")
    partitions = {"type": "end", "stream": stream, "partitionOffsetMap": dict(offsets)}
    return {"type": spec["type"], "partitions": partitions}
