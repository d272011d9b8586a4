# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
The specification of a supervisor: what differs between streams, its canonical form, and its desired state. Pure.

The canonical form is that in which Druid returns it, so that specifications can be compared. The desired state is
computed from the current one and the user's specification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._spec.canonical import (
    canonical_dimensions,
    canonical_duration,
    canonical_filters,
    canonical_flatten_fields,
    canonical_granularity,
    canonical_timestamp,
    specified_exclusions,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.compaction import FIELDS as COMPACTION_FIELDS
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same, merge
from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import (
    Complete,
    unknown_fields,
    without_fields,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import (
    Path,
    changed_at,
    value_at,
    without,
)

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


_PARTS = ("dataSchema", "ioConfig", "tuningConfig")

_DURATIONS: tuple[Path, ...] = (
    ("spec", "ioConfig", "taskDuration"),
    ("spec", "ioConfig", "startDelay"),
    ("spec", "ioConfig", "period"),
    ("spec", "ioConfig", "completionTimeout"),
    ("spec", "ioConfig", "lateMessageRejectionPeriod"),
    ("spec", "ioConfig", "earlyMessageRejectionPeriod"),
    ("spec", "tuningConfig", "httpTimeout"),
    ("spec", "tuningConfig", "shutdownTimeout"),
    ("spec", "tuningConfig", "offsetFetchPeriod"),
    ("spec", "tuningConfig", "repartitionTransitionDuration"),
)
_GRANULARITIES = ("segmentGranularity", "queryGranularity")
_DATA_SCHEMA: Path = ("spec", "dataSchema")

# How Druid normalizes fields.
_STREAM_FIELDS: tuple[tuple[Path, Callable[[Any], Any]], ...] = (
    *((path, canonical_duration) for path in _DURATIONS),
    *(((*_DATA_SCHEMA, "granularitySpec", name), canonical_granularity) for name in _GRANULARITIES),
    ((*_DATA_SCHEMA, "dimensionsSpec", "dimensions"), canonical_dimensions),
    ((*_DATA_SCHEMA, "transformSpec"), canonical_filters),
    ((*_DATA_SCHEMA, "metricsSpec"), canonical_filters),
    (("spec", "ioConfig", "lateMessageRejectionStartDateTime"), canonical_timestamp),
    (("spec", "ioConfig", "inputFormat", "flattenSpec", "fields"), canonical_flatten_fields),
    (("spec", "ioConfig", "inputFormat", "valueFormat", "flattenSpec", "fields"), canonical_flatten_fields),
    (("spec", "tuningConfig", "numPersistThreads"), lambda number: _bounded(number, at_least=1)),
)
_COMPACTION_FIELDS = tuple((("spec", *path), change) for path, change in COMPACTION_FIELDS)
FIELDS = (*_STREAM_FIELDS, *_COMPACTION_FIELDS)


def canonical(spec: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the specification of a supervisor, as specified by a user or returned by GET, in the form of the latter.

    Idempotent. Nulls are kept: in a user's specification they remove fields.
    """
    stream = stream_of(spec)
    if stream is not None:
        return _canonical_stream(stream, spec)
    if spec.get("type") == "autocompact":
        return _with_fields(spec, _COMPACTION_FIELDS)
    return dict(spec)


def _canonical_stream(stream: Stream, spec: Mapping[str, Any]) -> dict[str, Any]:
    document = _with_fields(with_parts_inside(spec), _STREAM_FIELDS)
    for path in stream.dropped:
        document = without(document, path)
    return _with_fields(
        document, ((_DATA_SCHEMA, _with_specified_exclusions), (("spec", "tuningConfig"), _with_strict_parsing))
    )


def with_parts_inside(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the old form, with the three parts at the top level, as the new form, with them in ``spec``."""
    top = {name: value for name, value in spec.items() if name not in _PARTS}
    if top.get("spec") is None:
        top["spec"] = {name: spec[name] for name in _PARTS if name in spec}
    return top


def _with_fields(document: Any, fields: tuple[tuple[Path, Callable[[Any], Any]], ...]) -> dict[str, Any]:
    for path, change in fields:
        document = changed_at(document, path, change)
    return dict(document)


def _with_specified_exclusions(data_schema: Any) -> Any:
    specified = specified_exclusions(data_schema) if isinstance(data_schema, Mapping) else None
    if specified is None:
        return data_schema
    return changed_at(data_schema, ("dimensionsSpec", "dimensionExclusions"), lambda _exclusions: specified)


def _with_strict_parsing(tuning: Any) -> Any:
    """Druid overrides two fields if reportParseExceptions is true (``SeekableStreamIndexTaskTuningConfig``)."""
    if value_at(tuning, ("reportParseExceptions",)) not in (True, "true"):
        return tuning
    saved = tuning.get("maxSavedParseExceptions")
    capped = {} if saved is None else {"maxSavedParseExceptions": _bounded(saved, at_most=1)}
    return {**tuning, "maxParseExceptions": 0, **capped}


def _bounded(number: Any, *, at_least: int | None = None, at_most: int | None = None) -> Any:
    """Return an integer, which may be a string, limited to the bounds, and any other value unchanged."""
    try:
        found = int(number)
    except (TypeError, ValueError, OverflowError):
        return number
    if at_least is not None and found < at_least:
        return at_least
    return at_most if at_most is not None and found > at_most else number


_AUTO_SCALED: Path = ("spec", "ioConfig", "autoScalerConfig", "enableTaskAutoScaler")
_TASK_COUNT: Path = ("spec", "ioConfig", "taskCount")
# Parts for which Druid returns every known field (null if it is not set), and the exceptions (Druid 39).
_COMPLETE: Complete = {
    (): frozenset(),
    ("spec",): frozenset(),
    ("spec", "dataSchema"): frozenset(
        {
            "parser",
            "projections",
            "baseTable",
            "segmentGranularitySpec",
            "dimensionsSpec",
            "metricsSpec",
            "granularitySpec",
        }
    ),
    ("spec", "dataSchema", "granularitySpec"): frozenset(),
    ("spec", "ioConfig"): frozenset(),
    ("spec", "tuningConfig"): frozenset({"streamingPartitionsSpec"}),
}
# For Kinesis, Druid omits many more fields in these parts.
_INCOMPLETE = {"kinesis": {("spec", "ioConfig"), ("spec", "tuningConfig")}}
_TUNING: Path = ("spec", "tuningConfig")
# Fields that Druid derives from another field unless they are set: the derived field and its source.
_DERIVED_FIELDS: tuple[tuple[str, str], ...] = (
    ("maxParseExceptions", "reportParseExceptions"),
    ("maxSavedParseExceptions", "reportParseExceptions"),
    ("indexSpecForIntermediatePersists", "indexSpec"),
)
_NEW_STREAM = (
    "offsets of one stream are invalid in another, so an existing supervisor cannot be switched. Suspend it and wait "
    "until its tasks have published, remove it (state: absent), and submit a supervisor with another id. To read the "
    "new stream from its beginning into the same datasource, submit the supervisor again and reset it"
)


@dataclass(frozen=True)
class DesiredSupervisor:
    """The desired state of one supervisor. ``spec``: in canonical form. ``suspended``: None leaves it unchanged."""

    id: str
    spec: Mapping[str, Any] | None = None
    suspended: bool | None = None
    is_present: bool = True


def merged_spec(before: Mapping[str, Any] | None, target: DesiredSupervisor) -> dict[str, Any] | None:
    """Return the desired specification, None if the supervisor should not exist. InvalidInput if it is not possible."""
    if not target.is_present:
        return None
    if before is None:
        return _created(target)
    desired = _without_unknown(before, target)
    if _is_auto_scaled(merge(before, desired)):
        # the autoscaler controls the number of tasks; setting it would revert its decision
        desired = without(desired, _TASK_COUNT)
    after = _with_suspension(_without_derived(before, desired, merge(before, desired)), target)
    _reject_other_stream(before, after)
    return after


def differ_in_suspension_only(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """True if only the suspension differs."""
    return are_same({**before, "suspended": None}, {**after, "suspended": None})


def unknown_supervisor_fields(before: Mapping[str, Any] | None, target: DesiredSupervisor) -> Iterator[Path]:
    """Yield the paths in ``target`` that this version of Druid does not know, as far as ``before`` shows."""
    kind = str(value_at(before, ("type",)))
    incomplete = _INCOMPLETE.get(kind, set())
    complete = {path: names for path, names in _COMPLETE.items() if path not in incomplete}
    return unknown_fields(before, target.spec, complete) if kind in STREAMS else iter(())


def _created(target: DesiredSupervisor) -> dict[str, Any]:
    if target.spec is None:
        raise InvalidInput("id", target.id, "the supervisor does not exist; set spec to create it")
    return _with_suspension({"suspended": False, **target.spec}, target)


def _with_suspension(spec: Mapping[str, Any], target: DesiredSupervisor) -> dict[str, Any]:
    return {**spec} if target.suspended is None else {**spec, "suspended": target.suspended}


def _without_unknown(before: Mapping[str, Any], target: DesiredSupervisor) -> Any:
    """Remove the fields that Druid would drop: with them every run would report a change."""
    return without_fields(target.spec or {}, unknown_supervisor_fields(before, target))


def _without_derived(before: Mapping[str, Any], desired: Any, after: dict[str, Any]) -> Any:
    """Remove the values that Druid has derived from a field that changes, so that Druid derives them again."""
    old, specified, new = (value_at(each, _TUNING) or {} for each in (before, desired, after))
    if not all(isinstance(each, Mapping) for each in (old, specified, new)):
        # Druid rejects an invalid tuningConfig
        return after
    for derived, source in _DERIVED_FIELDS:
        if derived not in specified and not are_same(old.get(source), new.get(source)):
            after = without(after, (*_TUNING, derived))
    return after


def _is_auto_scaled(spec: Mapping[str, Any]) -> bool:
    return value_at(spec, _AUTO_SCALED) in (True, "true")


def _reject_other_stream(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    stream = stream_of(before)
    names = (stream.name, *stream.patterns) if stream else ()
    for path in (("type",), *names):
        current, desired_value = value_at(before, path), value_at(after, path)
        if current != desired_value:
            raise InvalidInput(".".join(path), desired_value, f"the supervisor reads {current!r}; {_NEW_STREAM}")
