# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How segments are stored and partitioned (``segment.IndexSpec``, ``indexer.partitions``). Pure."""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.druidops.druid.plugins.module_utils._serde.druid_class import (
    DruidClass,
    Field,
    Json,
    Kind,
    in_form,
    of_kind,
)
from ansible_collections.druidops.druid.plugins.module_utils._serde.forms import lower, number_of_bytes

_ROWS = frozenset({"targetRowsPerSegment", "maxRowsPerSegment"})


def _renamed(value: Json, names: Mapping[str, str]) -> Json:
    """Return an object with the old names of fields replaced. A field that is set under its own name wins."""
    found = {name: each for name, each in value.items() if name not in names}
    for old, new in names.items():
        if value.get(old) is not None and found.get(new) is None:
            found[new] = value[old]
    return found


def _hashed(value: Json) -> Json:
    """Return a hashed partitioning. GET has the target as ``maxRowsPerSegment``."""
    return _renamed(value, {"targetRowsPerSegment": "maxRowsPerSegment", "targetPartitionSize": "maxRowsPerSegment"})


def _single_dim(value: Json) -> Json:
    return _renamed(value, {"targetPartitionSize": "targetRowsPerSegment", "maxPartitionSize": "maxRowsPerSegment"})


BUFFERS: Mapping[str, Field] = {
    "indexSpec": of_kind("indexSpec"),
    "indexSpecForIntermediatePersists": of_kind("indexSpec"),
    "partitionsSpec": of_kind("partitionsSpec"),
    "splitHintSpec": of_kind("splitHintSpec"),
}
KINDS: Mapping[str, Kind] = {
    "indexSpec": Kind(
        {
            "": DruidClass(
                "segment.IndexSpec",
                {
                    "bitmap": of_kind("bitmap"),
                    "dimensionCompression": in_form(lower),
                    "metricCompression": in_form(lower),
                    "longEncoding": in_form(lower),
                    "complexMetricCompression": in_form(lower),
                    "jsonCompression": in_form(lower),
                },
            )
        }
    ),
    "bitmap": Kind({}, types={"Roaring": "roaring", "ROARING": "roaring"}),
    "partitionsSpec": Kind(
        {
            "hashed": DruidClass(
                "indexer.partitions.HashedPartitionsSpec",
                shape=_hashed,
                one_of=(frozenset({"numShards", "maxRowsPerSegment"}),),
            ),
            "single_dim": DruidClass(
                "indexer.partitions.SingleDimensionPartitionsSpec",
                shape=_single_dim,
                one_of=(_ROWS,),
            ),
            "range": DruidClass("indexer.partitions.DimensionRangePartitionsSpec", one_of=(_ROWS,)),
        },
        types={"dimension": "single_dim"},
    ),
    "splitHintSpec": Kind(
        {
            "maxSize": DruidClass("data.input.MaxSizeSplitHintSpec", {"maxSplitSize": in_form(number_of_bytes)}),
            "segments": DruidClass(
                "data.input.SegmentsSplitHintSpec", {"maxInputSegmentBytesPerTask": in_form(number_of_bytes)}
            ),
        }
    ),
}
