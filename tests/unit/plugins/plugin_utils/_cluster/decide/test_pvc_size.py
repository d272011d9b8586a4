# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests that are larger than the size of existing PVCs."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.pvc_size import undersized_pvcs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs

Manifest = dict[str, Any]


def storage(name: str, size: Any) -> Manifest:
    return {"metadata": {"name": name}, "spec": {"resources": {"requests": {"storage": size}}}}


def claim(name: str, size: str) -> Manifest:
    return {"kind": "PersistentVolumeClaim", **storage(name, size)}


def template(size: Any) -> Manifest:
    return {"volumeClaimTemplates": [storage("d", size)]}


TWO = [claim("d-druid-c-brokers-0", "2Gi"), claim("d-druid-c-brokers-1", "2Gi")]
# (id, group, PVCs, PVCs named in the warning)
TABLE: list[tuple[str, Manifest, list[Manifest], str | None]] = [
    ("larger", template("4Gi"), TWO, "d-druid-c-brokers-0 (2Gi), d-druid-c-brokers-1 (2Gi)"),
    ("one of them", template("4Gi"), [TWO[0], claim("d-druid-c-brokers-1", "4Gi")], "d-druid-c-brokers-0 (2Gi)"),
    ("the same", template("2048Mi"), TWO, None),
    ("smaller", template("1Gi"), TWO, None),
    ("of another group", template("4Gi"), [claim("d-druid-c-routers-0", "2Gi")], None),
    ("no PVC yet", template("4Gi"), [], None),
    ("an invalid quantity", template("many"), TWO, None),
    ("a stand-alone PVC", {"persistentVolumeClaim": [storage("p", "2Gi")]}, [claim("p", "1Gi")], "p (1Gi)"),
    (
        "a stand-alone PVC of the requested size",
        {"persistentVolumeClaim": [storage("p", "2Gi")]},
        [claim("p", "2Gi")],
        None,
    ),
]


@pytest.mark.parametrize(("node", "live", "names"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_undersized_pvcs(node: Manifest, live: list[Manifest], names: str | None) -> None:
    found = undersized_pvcs(inputs(druid.cluster(node), Observed().with_objects(live)))
    assert len(found) == (names is not None)
    for warning in found:
        assert warning.startswith("spec.nodes[brokers].")
        assert f"not expanded yet: {names}. " in warning
