# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How segments are stored and partitioned (``segment.IndexSpec``, ``indexer.partitions``). Pure."""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.druidops.druid.plugins.module_utils._serde.druid_class import (
    IGNORED,
    DruidClass,
    Field,
    Json,
    Kind,
    in_form,
    of_kind,
    returns,
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


# The default of a stream.
INDEX_SPEC: Json = {
    "bitmap": {"type": "roaring"},
    "dimensionCompression": "lz4",
    "stringDictionaryEncoding": {"type": "utf8"},
    "metricCompression": "lz4",
    "longEncoding": "longs",
}
BUFFERS: Mapping[str, Field] = {
    "indexSpec": of_kind("indexSpec"),
    "indexSpecForIntermediatePersists": of_kind("indexSpec"),
    "partitionsSpec": of_kind("partitionsSpec"),
    "appendableIndexSpec": of_kind("appendableIndexSpec"),
    "splitHintSpec": of_kind("splitHintSpec"),
}
KINDS: Mapping[str, Kind] = {
    "indexSpec": Kind(
        {
            "": DruidClass(
                "segment.IndexSpec",
                {
                    "bitmap": returns({"type": "roaring"}, "bitmap"),
                    "stringDictionaryEncoding": returns({"type": "utf8"}, "stringDictionaryEncoding"),
                    "dimensionCompression": returns("lz4", form=lower),
                    "metricCompression": returns("lz4", form=lower),
                    "longEncoding": returns("longs", form=lower),
                    "complexMetricCompression": in_form(lower),
                    "jsonCompression": in_form(lower),
                },
            )
        }
    ),
    # Druid 27 ignores it
    "bitmap": Kind(
        {"roaring": DruidClass("segment.data.RoaringBitmapSerdeFactory", {"compressRunOnSerialization": IGNORED})},
        types={"Roaring": "roaring", "ROARING": "roaring"},
    ),
    "stringDictionaryEncoding": Kind(
        {
            "frontCoded": DruidClass(
                "segment.data.StringEncodingStrategy.FrontCoded",
                {"bucketSize": returns(4), "formatVersion": returns(0)},
            )
        }
    ),
    "partitionsSpec": Kind(
        {
            "hashed": DruidClass(
                "indexer.partitions.HashedPartitionsSpec",
                {"partitionDimensions": returns([]), "partitionFunction": returns("murmur3_32_abs")},
                _hashed,
                (frozenset({"numShards", "maxRowsPerSegment"}),),
            ),
            "single_dim": DruidClass(
                "indexer.partitions.SingleDimensionPartitionsSpec",
                {"assumeGrouped": returns(False)},
                _single_dim,
                (_ROWS,),
            ),
            "range": DruidClass(
                "indexer.partitions.DimensionRangePartitionsSpec", {"assumeGrouped": returns(False)}, one_of=(_ROWS,)
            ),
            "dynamic": DruidClass("indexer.partitions.DynamicPartitionsSpec", {"maxRowsPerSegment": returns(5000000)}),
        },
        types={"dimension": "single_dim"},
    ),
    "appendableIndexSpec": Kind(
        {
            "onheap": DruidClass(
                "segment.incremental.OnheapIncrementalIndex.Spec",
                {"preserveExistingMetrics": returns(False)},
            )
        }
    ),
    "splitHintSpec": Kind(
        {
            "maxSize": DruidClass(
                "data.input.MaxSizeSplitHintSpec",
                {"maxSplitSize": returns(1073741824, form=number_of_bytes), "maxNumFiles": returns(1000)},
            ),
            "segments": DruidClass(
                "data.input.SegmentsSplitHintSpec",
                {
                    "maxInputSegmentBytesPerTask": returns(1073741824, form=number_of_bytes),
                    "maxNumSegments": returns(1000),
                },
            ),
        }
    ),
}
