# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a workload specifies about its pods, and the version of Druid in the tag of its image."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import (
    druid_version,
    image_digest,
    image_tag,
    main_image,
    ordinal_of,
    released_pods,
    template_names,
    updated_ordinals,
)

# (specification, ordinals of the pods that an update replaces)
UPDATED: list[tuple[dict[str, Any], list[int]]] = [
    ({}, [0]),
    ({"replicas": 0}, []),
    ({"replicas": 3}, [0, 1, 2]),
    ({"replicas": 3, "ordinals": {"start": 5}}, [5, 6, 7]),
    ({"replicas": 3, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}}, [2]),
    ({"replicas": 3, "ordinals": {"start": 5}, "updateStrategy": {"rollingUpdate": {"partition": 2}}}, [7]),
    ({"replicas": 1, "updateStrategy": {"rollingUpdate": {"partition": 4}}}, []),
    ({"replicas": 2, "ordinals": None, "updateStrategy": {"rollingUpdate": None}}, [0, 1]),
]


@pytest.mark.parametrize(("spec", "expected"), UPDATED)
def test_updated_ordinals(spec: dict[str, Any], expected: list[int]) -> None:
    assert [*updated_ordinals({"spec": spec})] == expected


def of(kind: str, partition: int = 0, replicas: int = 3) -> dict[str, Any]:
    strategy = {"type": kind, **({"rollingUpdate": {"partition": partition}} if kind == "RollingUpdate" else {})}
    return {"replicas": replicas, "updateStrategy": strategy}


ROLLING, ON_DELETE = "RollingUpdate", "OnDelete"
# (specification before, updated pods before, specification after, released pods)
RELEASED: list[tuple[dict[str, Any], int, dict[str, Any], int]] = [
    (of(ROLLING, 2), 1, of(ROLLING), 2),
    (of(ROLLING, 2), 1, of(ROLLING, 1), 1),
    (of(ROLLING, 2), 3, of(ROLLING), 0),
    (of(ROLLING, 1), 0, of(ROLLING, 2), 0),
    (of(ROLLING), 0, of(ROLLING), 0),
    (of(ROLLING, 2), 1, of(ON_DELETE), 0),
    (of(ON_DELETE), 1, of(ROLLING), 2),
    (of(ON_DELETE), 3, of(ROLLING), 0),
    (of(ON_DELETE), 0, of(ROLLING, 2), 1),
    (of(ON_DELETE), 0, of(ROLLING, replicas=0), 0),
    (of(ON_DELETE), 1, of(ON_DELETE), 0),
]


@pytest.mark.parametrize(("before", "updated", "after", "expected"), RELEASED)
def test_released_pods(before: dict[str, Any], updated: int, after: dict[str, Any], expected: int) -> None:
    status = {"observedGeneration": 2, "replicas": before["replicas"], "updatedReplicas": updated}
    live = {"metadata": {"generation": 2}, "spec": before, "status": status}
    assert released_pods(live, {"spec": after}) == expected


def test_all_pods_may_be_released_until_the_template_is_observed() -> None:
    status = {"observedGeneration": 1, "replicas": 3, "updatedReplicas": 3}
    live = {"metadata": {"generation": 2}, "spec": of(ON_DELETE), "status": status}
    assert released_pods(live, {"spec": of(ROLLING)}) == 3
    assert released_pods({**live, "status": {}}, {"spec": of(ROLLING)}) == 0


@pytest.mark.parametrize(
    ("name", "expected"), [("a-b-0", 0), ("a-b-12", 12), ("a-0", None), ("a-b-c-0", None), ("a-b-1234567890", None)]
)
def test_ordinal_of(name: str, expected: int | None) -> None:
    assert ordinal_of({"metadata": {"name": name}}, "a-b") == expected


def test_template_names() -> None:
    templates = [{"metadata": {"name": name}} for name in ("data", "more")]
    assert template_names({"spec": {"volumeClaimTemplates": templates}}) == ["data", "more"]
    assert template_names({"spec": {}}) == []


# (image, tag, version)
TABLE: list[tuple[str, str, tuple[int, ...] | None]] = [
    ("apache/druid:37.0.0", "37.0.0", (37,)),
    ("apache/druid:0.23.0", "0.23.0", (0, 23)),
    ("druid:v33.0.1", "v33.0.1", (33, 0, 1)),
    ("druid:33.0.1-java17", "33.0.1-java17", (33, 0, 1)),
    ("registry:5000/apache/druid:33", "33", (33,)),
    ("registry:5000/apache/druid", "", None),
    ("druid:latest", "latest", None),
    ("druid:main-37.0.0", "main-37.0.0", None),
    ("druid:20260102030405", "20260102030405", None),
    ("druid:37.0.0@sha256:0123456789abcdef", "37.0.0", (37,)),
    ("druid@sha256:0123456789abcdef", "", None),
    ("druid", "", None),
    ("", "", None),
]


@pytest.mark.parametrize(("reference", "tag", "version"), TABLE)
def test_version(reference: str, tag: str, version: tuple[int, ...] | None) -> None:
    assert (image_tag(reference), druid_version(reference)) == (tag, version)


def test_digest() -> None:
    assert image_digest("druid@sha256:0123") == "0123"
    assert image_digest("druid:1") == ""


def test_main_image_is_that_of_the_container_with_the_name_of_the_workload() -> None:
    containers = [{"name": "sidecar", "image": "b"}, {"name": "druid-c-brokers", "image": "a"}]
    workload = {"metadata": {"name": "druid-c-brokers"}, "spec": {"template": {"spec": {"containers": containers}}}}
    assert main_image(workload) == "a"
    assert main_image({**workload, "metadata": {"name": "other"}}) == "b"
