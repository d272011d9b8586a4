# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A spec that an older schema has accepted is reported in a condition, and a running cluster is not changed."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support.etcd_objects import store_spec
from ansible_collections.druidops.druid.tests.system.support.full_cluster import NAME, brokers, create, spec
from ansible_collections.druidops.druid.tests.system.support.go_operator import identities
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    NamespaceClient,
    condition,
    without_status,
)

# The Go operator's CRD has it as bytes, which are strings in JSON.
BYTES = {"type": "default", "spec": "eyJwcm9wZXJ0aWVzIjogIiJ9"}
WITH_PERCENTAGE = spec(brokers=brokers(maxSurge="25%"))
# (what is stored, the field that is named)
STORED: list[tuple[Any, str]] = [
    ({**spec(), "zookeeper": BYTES}, "spec.zookeeper.spec: "),
    ({**spec(), "deepStorage": BYTES}, "spec.deepStorage.spec: "),
    ({**spec(), "stopped": "false"}, "spec.stopped: "),
    (WITH_PERCENTAGE, "spec.nodes.brokers.maxSurge: "),
    ({}, "spec.nodes: Required value"),
    ({"nodes": "text"}, "spec.nodes: "),
    ({"nodes": {"a": "text"}}, "spec.nodes.a: "),
    ("text", "spec: "),
    (["text"], "spec: "),
    ({"nodes": {"a": {"replicas": "many"}}, "extraCommonConfig": "text"}, "spec.extraCommonConfig: "),
    ({"nodes": {}, "extraCommonConfig": ["text"]}, "spec.extraCommonConfig[0]: "),
]


@pytest.mark.parametrize(("stored", "field"), STORED, ids=repr)
def test_invalid_object_in_etcd_is_reported(live: NamespaceClient, stored: Any, field: str) -> None:
    create(live)
    assert one_pass(live, NAME).plan.findings == ()
    before = identities(live)
    store_spec(live, NAME, stored)
    mark = live.mark()
    assert {finding.reason for finding in one_pass(live, NAME).plan.findings} == {"InvalidSpec"}
    assert without_status(live.writes(mark)) == []
    assert identities(live) == before
    degraded = condition(live.get("Druid", NAME), "Degraded")
    assert (degraded["status"], degraded["reason"]) == ("True", "InvalidSpec")
    assert field in degraded["message"]
    live.patch("Druid", NAME, [{"op": "replace", "path": "/spec", "value": spec()}])
    assert one_pass(live, NAME).plan.findings == ()
    assert one_pass(live, NAME).plan.steps == ()
    assert condition(live.get("Druid", NAME), "Degraded")["status"] == "False"


def test_resource_with_a_stored_percentage_can_be_deleted(live: NamespaceClient) -> None:
    create(live)
    one_pass(live, NAME)
    store_spec(live, NAME, WITH_PERCENTAGE)
    live.delete("Druid", NAME)
    one_pass(live, NAME)
    assert live.find("Druid", NAME) is None
