# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Maven projects of Druid and Kafka."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from ansible_collections.druidops.druid.tests.testbed.druid.pom import druid_pom, kafka_pom
from ansible_collections.druidops.druid.tests.testbed.druid.versions import KNOWN, version

MAVEN = {"m": "http://maven.apache.org/POM/4.0.0"}


def dependencies(pom: str) -> dict[str, ElementTree.Element]:
    """The direct dependencies by group, name and version."""
    project = ElementTree.fromstring(pom)
    return {
        named(each, "groupId", "artifactId", "version"): each for each in project.findall("m:dependencies/*", MAVEN)
    }


def named(element: ElementTree.Element, *parts: str) -> str:
    """Parts of a coordinate, joined as Maven does."""
    return ":".join(element.findtext(f"m:{part}", "", MAVEN) for part in parts)


def excluded(element: ElementTree.Element) -> set[str]:
    """What is not to come along with a dependency."""
    return {named(each, "groupId", "artifactId") for each in element.findall("m:exclusions/*", MAVEN)}


@pytest.mark.parametrize("release", KNOWN)
def test_all_extensions_are_of_the_same_release(release: str) -> None:
    found = dependencies(druid_pom(version(release)))
    assert f"org.apache.druid:druid-services:{release}" in found
    for name in version(release).extensions:
        assert f"org.apache.druid.extensions:{name}:{release}" in found


def test_replaced_artifact_excludes_the_original() -> None:
    found = dependencies(druid_pom(version("27.0.0")))
    assert "org.apache.druid:druid-indexing-hadoop" in excluded(found["org.apache.druid:druid-services:27.0.0"])
    assert excluded(found["org.apache.druid:druid-indexing-hadoop:28.0.0"]) == {"*:*"}


def test_versions_of_libraries_are_those_that_druid_was_built_with() -> None:
    project = ElementTree.fromstring(druid_pom(version("33.0.0")))
    (managed,) = project.findall("m:dependencyManagement/*/*", MAVEN)
    assert (
        named(managed, "groupId", "artifactId", "version", "type", "scope")
        == "org.apache.druid:druid:33.0.0:pom:import"
    )


def test_kafka_shares_nothing_with_druid() -> None:
    assert not any("druid" in name for name in dependencies(kafka_pom()))
