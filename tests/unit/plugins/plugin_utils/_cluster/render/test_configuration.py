# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The common configuration: its files, referenced ConfigMaps, and projected Secrets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.config_map import common_configuration
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, ReferenceKey
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid

FIRST = ReferenceKey("ConfigMap", "ns", "first")
SECOND = ReferenceKey("ConfigMap", "other", "second")
SECRET = ReferenceKey("Secret", "ns", "hidden")


def files(source: dict[str, Any], references: dict[ReferenceKey, Any] | None = None) -> dict[str, str]:
    [config_map] = render(Cluster.from_resource(source, references or {})).common
    found: dict[str, str] = config_map["data"]
    return found


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({}, "a=b"),
        ({"zookeeper": {"type": "default", "spec": {"properties": "z=1"}}}, "a=b\nz=1\n"),
        (
            {
                "deepStorage": {"type": "default", "spec": {"properties": "d=1"}},
                "metadataStore": {"type": "default", "spec": {"properties": "m=1"}},
                "zookeeper": {"type": "default", "spec": {"properties": "z=1"}},
            },
            "a=b\nz=1\n\nm=1\n\nd=1\n",
        ),
        ({"zookeeper": {"type": "default", "spec": {}}}, "a=b\n\n"),
    ],
)
def test_common_properties(spec: dict[str, Any], text: str) -> None:
    assert files(druid.resource(**spec)) == {"common.runtime.properties": text}


def test_empty_files_are_omitted() -> None:
    spec = {"metricDimensions.json": "{}", "hdfs-site.xml": "", "core-site.xml": "<c/>"}
    assert files(druid.resource(None, **spec)) == {
        "common.runtime.properties": "a=b",
        "metricDimensions.json": "{}",
        "core-site.xml": "<c/>",
    }


def test_later_references_take_precedence() -> None:
    source = druid.resource(extraCommonConfig=[{"name": "first"}, {"name": "second", "namespace": "other"}])
    found = {
        FIRST: {"data": {"x": "1", "y": "1"}},
        SECOND: {"data": {"y": "2", "common.runtime.properties": "c=d"}, "binaryData": {"z": "AA=="}},
    }
    assert files(source, found) == {"common.runtime.properties": "c=d", "x": "1", "y": "2"}


@pytest.mark.parametrize("found", [{}, {FIRST: None}, {FIRST: {}}, {FIRST: {"data": None}}])
def test_missing_reference_adds_no_files(found: dict[ReferenceKey, Any]) -> None:
    assert files(druid.resource(extraCommonConfig=[{"name": "first"}]), found) == {"common.runtime.properties": "a=b"}


def secret(uid: str = "u", **data: str) -> dict[str, Any]:
    return {"metadata": {"uid": uid}, "data": data}


def template(found: Any, **spec: Any) -> dict[str, Any]:
    source = druid.resource(extraCommonConfig=[{"kind": "Secret", "name": "hidden"}], **spec)
    desired = render(Cluster.from_resource(source, {SECRET: found}))
    [workload] = [manifest for manifest in desired.objects if manifest["kind"] == "StatefulSet"]
    pods: dict[str, Any] = workload["spec"]["template"]
    return pods


def test_secrets_are_projected_with_the_common_files() -> None:
    assert template(secret(a="Yg=="))["spec"]["volumes"][0] == {
        "name": "common-config-volume",
        "projected": {"sources": [{"configMap": {"name": "c-druid-common-config"}}, {"secret": {"name": "hidden"}}]},
    }


def test_secrets_are_never_copied() -> None:
    source = druid.resource(extraCommonConfig=[{"kind": "Secret", "name": "hidden"}])
    desired = render(Cluster.from_resource(source, {SECRET: secret(password="aHVudGVyMg==")}))
    assert "hunter2" not in str(desired)
    assert "aHVudGVyMg==" not in str(desired)


def test_hash_changes_only_with_the_data_of_a_secret() -> None:
    contents = [secret(a="Yg=="), secret(a="Yw=="), secret(b="Yg=="), secret("v", a="Yg=="), secret(), None]
    hashes = [template(found)["metadata"]["annotations"]["druid.apache.org/secret-hash"] for found in contents]
    assert len(set(hashes)) == len(contents)
    other_metadata = {**secret(a="Yg=="), "metadata": {"uid": "u", "resourceVersion": "2", "labels": {"a": "b"}}}
    assert template(other_metadata)["metadata"]["annotations"]["druid.apache.org/secret-hash"] == hashes[0]


def test_annotations_of_the_user_are_kept_with_the_hash() -> None:
    assert sorted(template(secret(), podAnnotations={"a": "b"})["metadata"]["annotations"]) == [
        "a",
        "druid.apache.org/secret-hash",
    ]


def test_common_configuration_is_hashed_once() -> None:
    """Otherwise a large common configuration would be hashed again for every group."""
    cluster = Cluster.from_resource(druid.resource())
    configuration = common_configuration(cluster)
    hashes = configuration.hashes
    render(cluster)
    assert common_configuration(cluster) is configuration
    assert common_configuration(cluster).hashes is hashes
    assert replace(cluster, spec={}).shared == {}
