# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The version in the tag of an image."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import (
    druid_version,
    image_digest,
    image_tag,
    main_image,
)

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
