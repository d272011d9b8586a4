# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A warning if the segment cache is larger than the volume that it is on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.size_limits import (
    oversized_caches,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import parse_bytes
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, orphans
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs

Manifest = dict[str, Any]
PATH = "/druid/data/segments"
GI = 1024**3


def group(locations: Any, size: str = "10Gi", mount: str = "/druid/data", **more: Any) -> Manifest:
    text = locations if isinstance(locations, str) else json.dumps(locations)
    requests = {"resources": {"requests": {"storage": size}}}
    return {
        "runtime.properties": f"druid.segmentCache.locations={text}",
        "volumeMounts": [{"name": "d", "mountPath": mount}, {"name": "other", "mountPath": "/druid/data/other"}],
        "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": requests}],
        **more,
    }


def at(size: Any, path: str = PATH) -> Manifest:
    return {"path": path, "maxSize": size}


CASES: dict[str, tuple[Manifest, bool]] = {
    "as large": (group([at(10 * GI)]), False),
    "larger": (group([at(10 * GI + 1)]), True),
    "a text": (group([at(str(11 * GI))]), True),
    "decimal units": (group([at("10g")]), False),
    "binary units": (group([at("11GiB")]), True),
    "two locations": (group([at("6Gi"), at("6Gi", "/druid/data/more")]), True),
    "two locations, one elsewhere": (group([at("6Gi"), at("6Gi", "/elsewhere")]), False),
    "another volume below the mount": (group([at("100g", "/druid/data/other/x")]), False),
    "a path that only begins alike": (group([at("100g", "/druid/database")]), False),
    "the mount itself": (group([at("100g", "/druid/data")]), True),
    "a mount with a slash": (group([at("100g")], mount="/druid/data/"), True),
    "a Deployment": (group([at("100g")], kind="Deployment"), False),
    "not JSON": (group("[{"), False),
    "not a list": (group("5"), False),
    "no size": (group([{"path": PATH}]), False),
    "no path": (group([{"maxSize": "100g"}]), False),
    "not a quantity": (group([at("100g")], size="much"), False),
}


@pytest.mark.parametrize(("node", "is_oversized"), CASES.values(), ids=CASES)
def test_warning(node: Manifest, is_oversized: bool) -> None:
    assert bool(oversized_caches(inputs(druid.cluster(node)))) == is_oversized


def test_the_smallest_pvc_counts() -> None:
    which = druid.cluster(group([at("1500Mi")]))
    live = orphans.observed(which, [orphans.claim("d-druid-c-brokers-0")])
    [warning] = oversized_caches(inputs(which, live))
    assert "PVC d-druid-c-brokers-0 has only 1Gi" in warning


def test_common_properties_apply_to_a_group_without_its_own() -> None:
    common = "druid.segmentCache.locations=" + json.dumps([at("100g")])
    node = group([], **{"runtime.properties": "a=b"})
    [warning] = oversized_caches(inputs(druid.cluster(node, **{"common.runtime.properties": common})))
    assert warning.startswith("spec.nodes[brokers].runtime.properties: druid.segmentCache.locations has a maxSize of ")
    assert not oversized_caches(inputs(druid.cluster(group([at("1g")]), **{"common.runtime.properties": common})))


# As org.apache.druid.java.util.common.HumanReadableBytes reads them.
SIZES = [("5", 5), (5, 5), ("5k", 5000), ("5K", 5000), ("5Ki", 5120), ("5KiB", 5120), ("1t", 10**12), ("2 Mi", 2 << 20)]


@pytest.mark.parametrize(
    ("text", "size"), [*SIZES, ("1.2t", None), ("5b", None), ("5KB", None), ("", None), (True, None)]
)
def test_sizes(text: Any, size: int | None) -> None:
    assert parse_bytes(text) == size
