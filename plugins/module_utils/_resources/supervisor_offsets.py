# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a supervisor reads on: ``/reset`` (every version) and ``/resetOffsets`` (from Druid 28)."""

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
# What a supervisor is asked for now comes after what it is at, and not at all once it is stopped.
_NOT_CONNECTED = (*STARTING, "UNABLE_TO_CONNECT_TO_STREAM", "LOST_CONTACT_WITH_STREAM", "STOPPING")


def reset(client: DruidClient, supervisor: str) -> None:
    """Have the offsets forgotten, some time after Druid has answered: it reads on as ``useEarliestOffset`` says."""
    client.post(supervisor_path(supervisor, "reset"))


def reset_before_resuming(client: DruidClient, supervisor: str) -> None:
    """Have the offsets of a suspended supervisor forgotten so that it can be resumed at once.

    NotConnected when Druid might drop the reset; then it is to be done again before anything else. Druid puts it behind
    what the supervisor is at, and drops it with one that is stopped, as it is when it is resumed (seen with Druid 33,
    whose Overlord had just been started again, and whose Kafka did not answer at first). One with a ``topicPattern``
    asks for its topics all the time: that Kafka has gone is not seen until it has failed three times.
    """
    wait_until_started(client, supervisor)
    _require_connection(client, supervisor)
    reset(client, supervisor)
    # one that starts by now is a successor, which does not know of it
    _require_connection(client, supervisor)


def _require_connection(client: DruidClient, supervisor: str) -> None:
    try:
        state = detailed_state(client, supervisor)
    except NotFound:
        # a leader that has just started does not know it yet
        state = "unknown"
    if state in (*_NOT_CONNECTED, "unknown"):
        raise NotConnected(
            f"Supervisor {supervisor!r} is {state}: it is not connected to its stream. A reset of its offsets could "
            "get lost when it is resumed, so it stays suspended until it is connected. If the stream has moved, "
            "suspend it, change the spec, and resume it after that."
        )


def reset_offsets(client: DruidClient, supervisor: str, spec: Mapping[str, Any], offsets: Mapping[str, Any]) -> None:
    """Set the offsets of some partitions (partition to offset); Druid does it some time after it has answered."""
    if not client.supports(*_HAS_RESET_OFFSETS):
        raise InvalidInput("reset_offsets", dict(offsets), f"Druid has it from 28 on, this is {client.version_text}")
    client.post(supervisor_path(supervisor, "resetOffsets"), offsets_body(spec, offsets))


def offsets_body(spec: Mapping[str, Any], offsets: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of ``/resetOffsets`` for a supervisor with this specification."""
    stream = stream_name(spec)
    if not stream:
        raise InvalidInput("reset_offsets", dict(offsets), "the supervisor reads no single topic or stream; use reset")
    partitions = {"type": "end", "stream": stream, "partitionOffsetMap": dict(offsets)}
    return {"type": spec["type"], "partitions": partitions}
