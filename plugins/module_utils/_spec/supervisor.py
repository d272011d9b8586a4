# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The canonical form of a supervisor's specification, as Druid returns it, so that specifications can be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.compaction import FIELDS as COMPACTION_FIELDS
from ansible_collections.druidops.druid.plugins.module_utils._spec.data_schema import (
    canonical_dimensions,
    canonical_filters,
    canonical_flatten_fields,
    specified_exclusions,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.stream import Stream, stream_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.time_formats import (
    canonical_duration,
    canonical_granularity,
    canonical_timestamp,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.paths import Path, changed_at, value_at, without

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
