# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The types of supervisors that read a stream, and how their specifications differ: a table. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._values.paths import Path, value_at

_IO: Path = ("spec", "ioConfig")


class Stream(NamedTuple):
    """
    The stream of a type of supervisor.

    ``name``: the path of the stream's name. Offsets are valid for one stream only. ``patterns``: the paths of patterns
    for several streams. ``dropped``: fields that Druid never returns, or that are copies of other fields.
    """

    name: Path
    patterns: tuple[Path, ...] = ()
    dropped: tuple[Path, ...] = ((*_IO, "type"),)


STREAMS: dict[str, Stream] = {
    "kafka": Stream(
        (*_IO, "topic"),
        ((*_IO, "topicPattern"),),
        ((*_IO, "type"), (*_IO, "stream"), (*_IO, "useEarliestSequenceNumber")),
    ),
    "kinesis": Stream((*_IO, "stream")),
    "rabbit": Stream((*_IO, "stream"), dropped=((*_IO, "type"), (*_IO, "useEarliestSequenceNumber"))),
}


def stream_of(spec: Mapping[str, Any]) -> Stream | None:
    """Return the stream that a supervisor with this specification reads, None if it does not read a stream."""
    return STREAMS.get(str(spec.get("type")))


def stream_name(spec: Mapping[str, Any]) -> Any:
    """Return the name of the stream, None if there is none or more than one."""
    stream = stream_of(spec)
    return value_at(spec, stream.name) if stream else None
