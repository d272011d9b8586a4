# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The annotation of pods that causes their restart when the first Service of their group changes."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import Preserved
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid

NAME = "druid.apache.org/subdomain"
FIRST = "druid-c-brokers"
# (values of the live group, fields of the group, annotation)
TABLE: list[tuple[Preserved, dict[str, Any], str | None]] = [
    (Preserved(), {}, None),
    (Preserved(subdomain=FIRST), {}, None),
    (Preserved(subdomain="other"), {}, FIRST),
    # it stays, since its removal would restart the pods again
    (Preserved(subdomain=FIRST, has_subdomain_annotation=True), {}, FIRST),
    (Preserved(subdomain=FIRST, has_subdomain_annotation=True), {"services": [{"metadata": {"name": "%s-b"}}]},
     f"{FIRST}-b"),
    (Preserved(subdomain="other"), {"kind": "Deployment"}, None),
    # without a Service before
    (Preserved(subdomain=""), {}, None),
]  # fmt: skip


@pytest.mark.parametrize(("preserved", "node", "annotation"), TABLE)
def test_annotation(preserved: Preserved, node: dict[str, Any], annotation: str | None) -> None:
    desired = render(druid.cluster({"services": [{}], **node}), {"brokers": preserved})
    [workload] = [each for each in desired.objects if each["kind"] in ("StatefulSet", "Deployment")]
    assert (workload["spec"]["template"]["metadata"].get("annotations") or {}).get(NAME) == annotation
