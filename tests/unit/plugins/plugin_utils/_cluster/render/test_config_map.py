# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files of the ConfigMaps, and their hash as the Go operator computes it."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.config_map import (
    common_configuration,
    config_map_hashes,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, ReferenceKey
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from hypothesis import given
from hypothesis import strategies as st

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


# Computed by encoding/json and crypto/sha1 of Go 1.26.8 and of Go 1.21.13 for the ConfigMap in hashes_of().
COMPUTED_BY_GO = [
    ("plain=1\n", "3h/qKKI3Y5bBgbpW6bdEAGwfWsY=", "3h/qKKI3Y5bBgbpW6bdEAGwfWsY="),
    ("<a> & 'b' \"c\"", "SsM6L/xjLs9JvzO6WX7wrAn9NNQ=", "SsM6L/xjLs9JvzO6WX7wrAn9NNQ="),
    ("back\\slash \\b \\f \\\\b", "NudDLmOfLYhoE3Ho7cRLNz+rWYM=", "NudDLmOfLYhoE3Ho7cRLNz+rWYM="),
    ("bell\x07 nul\x00 esc\x1b del\x7f", "jeoWe9N35pYzI6MoFZLZiYvXheg=", "jeoWe9N35pYzI6MoFZLZiYvXheg="),
    ("tab\t cr\r lf\n", "XWxHRAPOqIkbCj5AVLoJIt8qwts=", "XWxHRAPOqIkbCj5AVLoJIt8qwts="),
    ("backspace\b formfeed\f", "odRLxABXyc7JTyEQ0UFXkkdOSDo=", "y1X9dDXj2mMdqWdTmYZmulhYsC0="),
    ("both \\b\b\\f\f\\\\\b", "ZSn4BSiBiXx7sJOC3z15T4n4WWg=", "gbAIh2jzO0Apyv2OM1rA0mRuP4A="),
    ("\u2028\u2029\ufeff\ufffd\u0085\u00a0", "8QTLU+SmFieANLfGZX8FXTX5VCw=", "8QTLU+SmFieANLfGZX8FXTX5VCw="),
    ("\u00e9\u2603\U0001f600", "Y1AwO/+LYcSmTOzYIQATnH4wOLw=", "Y1AwO/+LYcSmTOzYIQATnH4wOLw="),
    ("{{ x }} %s %d ${y} __ansible_unsafe", "l5lCw417ZKlMyzScnWLGtj8L1oQ=", "l5lCw417ZKlMyzScnWLGtj8L1oQ="),
    ("", "tDsdjMepvB9a7T9MlFyOSDQvNtM=", "tDsdjMepvB9a7T9MlFyOSDQvNtM="),
    ("\x01\x02\x0b\x0e\x1f", "lFVgAHkzo8j4zwbehlQ8ZZrdxrY=", "lFVgAHkzo8j4zwbehlQ8ZZrdxrY="),
]


def hashes_of(text: str) -> tuple[str, str]:
    return config_map_hashes("n", "ns", {"b": "2", "a": "1"}, {"z": text, "a.b": "x"})


@pytest.mark.parametrize(("text", "newer", "older"), COMPUTED_BY_GO)
def test_hashes_match_those_of_go(text: str, newer: str, older: str) -> None:
    assert hashes_of(text) == (newer, older)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_hashes_follow_the_escaping_rules_of_go(text: str) -> None:
    assert hashes_of(text) == (digest_of(text, short=True), digest_of(text, short=False))


@given(st.text('\\bfu0c\b\f\x00"<'))
def test_escaped_backslashes_are_not_control_characters(text: str) -> None:
    assert hashes_of(text) == (digest_of(text, short=True), digest_of(text, short=False))


def test_lone_surrogate_is_hashed() -> None:
    assert hashes_of("\ud800")[0] != hashes_of("")[0]


def digest_of(text: str, short: bool) -> str:
    """Return the hash of the same ConfigMap, encoded character by character."""
    escaped = "".join(escape(character, short) for character in text)
    metadata = '"metadata":{"name":"n","namespace":"ns","creationTimestamp":null,"labels":{"a":"1","b":"2"}}'
    document = '{"kind":"ConfigMap","apiVersion":"v1",' + metadata + ',"data":{"a.b":"x","z":"' + escaped + '"}}'
    return base64.b64encode(hashlib.sha1(document.encode()).digest()).decode()


def escape(character: str, short: bool) -> str:
    named = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    if short:
        named |= {"\b": "\\b", "\f": "\\f"}
    if character in named:
        return named[character]
    return f"\\u{ord(character):04x}" if character < " " or character in "<>&\u2028\u2029" else character
