# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Resets of a supervisor's offsets: ``/reset`` (in every version) and ``/resetOffsets`` (since Druid 28)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import (
    STARTING,
    detailed_state,
    supervisor_path,
    wait_until_started,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.stream import stream_name
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput, NotConnected

_HAS_RESET_OFFSETS = (28,)
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
    if not client.supports(*_HAS_RESET_OFFSETS):
        raise InvalidInput("reset_offsets", dict(offsets), f"requires Druid 28 or newer, not {client.version_text}")
    client.post(supervisor_path(supervisor, "resetOffsets"), offsets_body(spec, offsets))


def offsets_body(spec: Mapping[str, Any], offsets: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of ``/resetOffsets`` for a supervisor with this specification."""
    stream = stream_name(spec)
    if not stream:
        raise InvalidInput("reset_offsets", dict(offsets), "the supervisor does not read a single stream; use reset")
    partitions = {"type": "end", "stream": stream, "partitionOffsetMap": dict(offsets)}
    return {"type": spec["type"], "partitions": partitions}
