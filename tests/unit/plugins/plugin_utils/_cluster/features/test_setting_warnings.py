# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings with which Druid does not start, or is never ready."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.setting_warnings import (
    setting_warnings,
    without_effect,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid

TLS = "druid.enablePlaintextPort=false\ndruid.enableTlsPort=true\n"
GOOD: list[dict[str, Any]] = [
    {},
    {"runtime.properties": "druid.plaintextPort=8082\n"},
    {"runtime.properties": "druid.plaintextPort=${env:PORT}\n"},
    # this port is not used
    {"runtime.properties": "druid.tlsPort=8282\n"},
    {"runtime.properties": f"{TLS}druid.plaintextPort=1\ndruid.tlsPort=8082\n"},
    {"jvm.options": "-server\n# a comment\n-Xmx1g -cp /a:/b\n--add-opens java.base/a=ALL-UNNAMED @file ${MORE}"},
    {"extra.jvm.options": "'-XX:OnOutOfMemoryError=kill -9 %p' --add-exports=java.base/a=b"},
]
BAD: list[tuple[dict[str, Any], str]] = [
    (
        {"runtime.properties": "druid.plaintextPort=9999\n"},
        "druid.port is 8082, but druid.plaintextPort in its properties is 9999",
    ),
    ({"runtime.properties": "druid.port=9999\n"}, "but druid.port in its properties is 9999"),
    ({"runtime.properties": f"{TLS}druid.tlsPort=8282\n"}, "but druid.tlsPort in its properties is 8282"),
    ({"jvm.options": "-server\nXmx1g\n-a"}, "jvm.options has 'Xmx1g', which Java takes for the name of a class"),
    ({"extra.jvm.options": "please run fast"}, "extra.jvm.options has 'please', which"),
    ({"jvm.options": "-Da='b"}, "jvm.options has a quotation mark without a second one"),
]


@pytest.mark.parametrize("node", GOOD)
def test_right_settings(node: dict[str, Any]) -> None:
    assert [*setting_warnings(druid.cluster({"druid.port": 8082, **node}))] == []


@pytest.mark.parametrize(("node", "expected"), BAD)
def test_wrong_settings(node: dict[str, Any], expected: str) -> None:
    [found] = setting_warnings(druid.cluster({"druid.port": 8082, **node}))
    assert found.startswith("spec.nodes[brokers]")
    assert expected in found


# (fields of the group, number of its pods, is there a warning)
WITHOUT_PODS: list[tuple[dict[str, Any], int | None, bool]] = [
    ({"replicas": None}, 0, True),
    ({"replicas": None}, 1, False),
    ({"replicas": None}, None, False),
    ({"replicas": None, "stopped": True}, 0, False),
    ({"replicas": 0}, 0, False),
]


@pytest.mark.parametrize(("node", "replicas", "warns"), WITHOUT_PODS)
def test_group_that_keeps_no_pods_causes_a_warning(node: dict[str, Any], replicas: int | None, warns: bool) -> None:
    [group] = druid.cluster(node).groups
    workload = {"kind": "StatefulSet", "metadata": {"name": group.unique_name}, "spec": {"replicas": replicas}}
    found = [*without_effect(group, Observed().with_objects([] if replicas is None else [workload]))]
    assert found == (["replicas is not set, so the group keeps its number of pods, which is 0"] if warns else [])
