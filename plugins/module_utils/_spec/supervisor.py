# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
The specification of a supervisor: what differs between streams, its canonical form, and its desired state. Pure.

The canonical form is that in which Druid returns it, so that specifications can be compared. The desired state is
computed from the current one and the user's specification.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._serde import canonical as serde
from ansible_collections.druidops.druid.plugins.module_utils._serde.misread import misread
from ansible_collections.druidops.druid.plugins.module_utils._serde.supervisors import with_parts_inside
from ansible_collections.druidops.druid.plugins.module_utils._spec.exclusions import with_exclusions
from ansible_collections.druidops.druid.plugins.module_utils._spec.memory import (
    Marker,
    place_of,
    without_marker,
    without_removed,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same, merge
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput, displayed
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import (
    Path,
    changed_at,
    value_at,
    without,
)

# Of the errors in a status, the latest ones are shown, each with at most these characters.
MAX_ERRORS, MAX_ERROR_LENGTH = 3, 500
_IO: Path = ("spec", "ioConfig")
# in the table of kinds
_KIND = "supervisor"


class Stream(NamedTuple):
    """
    The stream of a type of supervisor.

    ``name``: the path of the stream's name. Offsets are valid for one stream only. ``patterns``: the paths of patterns
    for several streams.
    """

    name: Path
    patterns: tuple[Path, ...] = ()


STREAMS: dict[str, Stream] = {
    "kafka": Stream((*_IO, "topic"), ((*_IO, "topicPattern"),)),
    "kinesis": Stream((*_IO, "stream")),
    "rabbit": Stream((*_IO, "stream")),
}


def stream_of(spec: Mapping[str, Any]) -> Stream | None:
    """Return the stream that a supervisor with this specification reads, None if it does not read a stream."""
    return STREAMS.get(str(spec.get("type")))


def stream_name(spec: Mapping[str, Any]) -> Any:
    """Return the name of the stream, None if there is none or more than one."""
    stream = stream_of(spec)
    return value_at(spec, stream.name) if stream else None


def canonical(spec: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the specification of a supervisor, as specified by a user or returned by GET, in the form of the latter.

    Idempotent. Nulls are kept: in a user's specification they remove fields.
    """
    return dict(without_marker(serde.canonical(_KIND, spec), place_of(spec)))


_AUTO_SCALED: Path = ("spec", "ioConfig", "autoScalerConfig", "enableTaskAutoScaler")
_TASK_COUNT: Path = ("spec", "ioConfig", "taskCount")
_NEW_STREAM = (
    "offsets of one stream are invalid in another, so an existing supervisor cannot be switched. Suspend it and wait "
    "until its tasks have published, remove it (of a module: state: absent; of a DruidIngestion: delete the resource), "
    "and submit a supervisor with another id. To read the "
    "new stream from its beginning into the same datasource, submit the supervisor again and reset it"
)


@dataclass(frozen=True)
class DesiredSupervisor:
    """
    The desired state of one supervisor.

    ``spec``: in canonical form. ``suspended``: None leaves it unchanged. ``warnings``: about what Druid reads in
    another way than the user may expect. ``document``: the specification as it was parsed.
    """

    id: str
    spec: Mapping[str, Any] | None = None
    suspended: bool | None = None
    is_present: bool = True
    warnings: tuple[str, ...] = ()
    document: Mapping[str, Any] | None = None

    @property
    def is_whole(self) -> bool:
        """True if it could create a supervisor. Another one is a partial update, which removes nothing."""
        spec = self.spec or {}
        stream, schema = stream_of(spec), value_at(spec, ("spec", "dataSchema")) or {}
        names = (stream.name, *stream.patterns) if stream else ()
        has_stream = stream is None or any(value_at(spec, path) is not None for path in names)
        return has_stream and (stream is None or any(value_at(schema, (name,)) for name in ("timestampSpec", "parser")))


def merged_spec(
    before: Mapping[str, Any] | None, target: DesiredSupervisor, marker: Marker | None = None
) -> dict[str, Any] | None:
    """
    Return the desired specification, None if the supervisor should not exist. InvalidInput if it is not possible.

    ``marker``: that of our last write, which knows what it specified.
    """
    if not target.is_present:
        return None
    if before is None:
        return _created(target)
    desired: Any = target.spec or {}
    kept = dict(without_removed(before, target.spec, marker, _KIND) if target.is_whole else before)
    if _is_auto_scaled(merge(kept, desired, _KIND)):
        # the autoscaler controls the number of tasks; setting it would revert its decision
        desired, kept = without(desired, _TASK_COUNT), _with_task_count(kept, before)
    # a field that is specified may have another form beside the current ones
    after = with_exclusions(before, desired, canonical(merge(kept, desired, _KIND)))
    after = _with_suspension(after, target)
    _reject_other_stream(before, after)
    return after


def differ_in_suspension_only(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """True if only the suspension differs."""
    return are_same({**before, "suspended": None}, {**after, "suspended": None})


def supervisor_warnings(specified: Mapping[str, Any]) -> tuple[str, ...]:
    """Return warnings about a specification, as specified by a user."""
    return tuple(misread(_KIND, with_parts_inside(specified)))


def _created(target: DesiredSupervisor) -> dict[str, Any]:
    if target.spec is None:
        raise InvalidInput("id", target.id, "the supervisor does not exist; set spec to create it")
    return _with_suspension({"suspended": False, **target.spec}, target)


def _with_suspension(spec: Mapping[str, Any], target: DesiredSupervisor) -> dict[str, Any]:
    return {**spec} if target.suspended is None else {**spec, "suspended": target.suspended}


def _with_task_count(spec: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    current = value_at(before, _TASK_COUNT)
    found = {} if current is None else {_TASK_COUNT[-1]: current}
    return dict(changed_at(spec, _TASK_COUNT[:-1], lambda io: {**io, **found}))


def _is_auto_scaled(spec: Mapping[str, Any]) -> bool:
    return value_at(spec, _AUTO_SCALED) in (True, "true")


def _reject_other_stream(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    stream = stream_of(before)
    names = (stream.name, *stream.patterns) if stream else ()
    for path in (("type",), *names):
        current, desired_value = value_at(before, path), value_at(after, path)
        if current != desired_value:
            raise InvalidInput(".".join(path), desired_value, f"the supervisor reads {_reads(before)}; {_NEW_STREAM}")


def _reads(spec: Mapping[str, Any]) -> str:
    """Return what a supervisor reads, for a message: ``kafka topic 'clicks'``."""
    stream = stream_of(spec)
    names = (stream.name, *stream.patterns) if stream else ()
    found = [(path[-1], value) for path in names if (value := value_at(spec, path)) is not None]
    return " ".join([str(spec.get("type")), *(f"{name} {displayed(value)}" for name, value in found)])
